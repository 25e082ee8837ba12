import type { IconNode } from "@payment-links/design/icons";
import styles from "./ui.module.css";

/** An icon in the color of the text. It is decorative: the text next to it has the meaning. */
export const Icon = ({ node, size = 16 }: { node: IconNode; size?: number }) => (
  <svg
    className={styles["icon"]}
    viewBox="0 0 24 24"
    width={size}
    height={size}
    fill="none"
    stroke="currentColor"
    strokeWidth="2"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {node.map(([Element, attributes]) => (
      <Element key={JSON.stringify(attributes)} {...(attributes as object)} />
    ))}
  </svg>
);
