// Stores what this browser knows about a link in `localStorage`: the payment, beginning before the
// wallet is asked for it, and the transaction that approved it. The stored data is not secret and
// is shared by all tabs.

/**
 * Creates the store of a link. `name` is also the name of the lock that prevents two tabs from
 * paying at the same time.
 */
export const createPaymentStore = (linkId) => {
  const name = `payment-link ${linkId}`;
  let fallbackState = {};

  const readStoredState = () => {
    try {
      return JSON.parse(localStorage.getItem(name)) ?? {};
    } catch {
      return fallbackState;
    }
  };

  const updateStoredState = (changes) => {
    fallbackState = { ...readStoredState(), ...changes };
    try {
      localStorage.setItem(name, JSON.stringify(fallbackState));
    } catch {
      // Storage is disabled, so the state is lost when the page is closed.
    }
  };

  /**
   * Returns whether a payment is still the stored one. Another tab may have started a different
   * one.
   */
  const isStoredPayment = ({ hash, batch }) => {
    const { payment } = readStoredState();
    return payment?.hash === hash && payment?.batch === batch;
  };

  return { name, readStoredState, updateStoredState, isStoredPayment };
};
