// Shows the steps of a payment: confirm in the wallet, sent, confirming, paid.

const stepNames = ["confirm", "sent", "confirming", "paid"];

const describeConfirmations = (texts, confirmations) =>
  confirmations
    ? texts.confirmations.replaceAll(/\{(\w+)\}/g, (_placeholder, name) => confirmations[name])
    : texts.confirming;

/**
 * Shows the current step, or hides all steps if there is none. `confirmations` contains the number
 * of confirmations, if it is known.
 */
export const showStep = (currentStep, confirmations) => {
  const stepper = document.querySelector("#stepper");
  if (stepper === null) return;
  stepper.hidden = currentStep === undefined;
  const currentIndex = stepNames.indexOf(currentStep);
  for (const [index, item] of [...stepper.children].entries()) {
    item.classList.toggle("done", index < currentIndex);
    item.classList.toggle("current", index === currentIndex);
    if (index === currentIndex) item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  }
  const element = stepper.querySelector("#confirming");
  const text = describeConfirmations(stepper.dataset, confirmations);
  if (element.textContent !== text) element.textContent = text;
};
