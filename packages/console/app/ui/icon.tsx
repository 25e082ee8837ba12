import type { IconNode } from "@payment-links/design/icons";
import { createElement } from "react";
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
    {/* An icon never changes its elements, so their positions identify them. */}
    {node.map(([element, attributes], index) =>
      createElement(element, { key: index, ...attributes }),
    )}
  </svg>
);
