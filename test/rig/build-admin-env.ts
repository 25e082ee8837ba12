/** Returns the variables with which the administration commands call all services at one URL. */
export const buildAdminEnv = (url: string) => ({
  AUTH_KEYS_INTERNAL_URL: url,
  LINKS_API_INTERNAL_URL: url,
  SETTLEMENT_LISTENER_INTERNAL_URL: url,
  WEBHOOK_DISPATCHER_INTERNAL_URL: url,
});
