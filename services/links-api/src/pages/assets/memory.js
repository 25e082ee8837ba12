// What this browser remembers of a link: the payment, from the moment that a wallet is asked for it,
// and the allowance that was sent before. It holds no secret, and all tabs share it.

/** The memory of a link; `name` is also that of the lock which parts its tabs. */
export const openMemory = (linkId) => {
  const name = `payment-link ${linkId}`;
  let unstored = {};

  const recall = () => {
    try {
      return JSON.parse(localStorage.getItem(name)) ?? {};
    } catch {
      return unstored;
    }
  };

  const remember = (change) => {
    unstored = { ...recall(), ...change };
    try {
      localStorage.setItem(name, JSON.stringify(unstored));
    } catch {
      // Storage is switched off: it is remembered for as long as the page stays.
    }
  };

  /** Another tab may have begun another payment meanwhile: what is said of this one is not of that. */
  const isRemembered = ({ hash, batch }) => {
    const { payment } = recall();
    return payment?.hash === hash && payment?.batch === batch;
  };

  return { name, recall, remember, isRemembered };
};
