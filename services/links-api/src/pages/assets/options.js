// Selects the way to pay that fits the device, until the payer selects one.

/** The pointer of phones and tablets is a finger. */
const isPhone = matchMedia("(pointer: coarse)").matches;

/** The option that the payer has selected. */
let selectedOption;

document.addEventListener("change", ({ target }) => {
  if (target.name === "option") selectedOption = target.value;
});

const suggestOption = (hasWallet) => {
  const canOpenApp = isPhone && document.querySelector("#wallet-option a") !== null;
  return hasWallet || canOpenApp ? "wallet" : "qr";
};

/**
 * Selects an option: the one that the payer has selected, else the wallet if the browser has one or
 * a phone can open an app, else the QR code. The page may have been replaced since the last call.
 */
export const selectOption = (hasWallet) => {
  const radio = document.querySelector(`#option-${selectedOption ?? suggestOption(hasWallet)}`);
  if (radio !== null) radio.checked = true;
};
