import { texts } from "./texts.ts";

/** Explains how to raise a wallet's gap limit. */
export const GapLimitHelp = () => (
  <details>
    <summary>{texts.gapLimitHelp.title}</summary>
    <p>{texts.gapLimitHelp.meaning}</p>
    <ul>
      {texts.gapLimitHelp.wallets.map(([wallet, steps]) => (
        <li key={wallet}>
          <strong>{wallet}</strong>: {steps}
        </li>
      ))}
    </ul>
    <p>{texts.gapLimitHelp.separateAccountHint}</p>
  </details>
);
