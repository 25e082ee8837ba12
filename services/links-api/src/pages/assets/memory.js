// Stores what this browser knows about a link in `localStorage`: the payment, from the moment a
// wallet is asked for it, and the approval transaction sent before it. It holds no secrets, and all
// tabs share it.

/**
 * Creates the store of a link. `name` is also the name of the lock that keeps two tabs from paying
 * at the same time.
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
      // Storage is disabled. The state lasts until the page is closed.
    }
  };

  /** Returns whether a payment is still the stored one. Another tab may have started a different payment. */
  const isStoredPayment = ({ hash, batch }) => {
    const { payment } = readStoredState();
    return payment?.hash === hash && payment?.batch === batch;
  };

  return { name, readStoredState, updateStoredState, isStoredPayment };
};
