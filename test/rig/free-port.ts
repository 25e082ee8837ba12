export { findFreePorts } from "@payment-links/runtime/testing/free-port";
