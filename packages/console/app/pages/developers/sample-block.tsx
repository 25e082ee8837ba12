import { useState } from "react";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { texts } from "./texts.ts";

/** A code sample in the chosen language. */
export const SampleBlock = ({ samples }: { samples: Readonly<Record<string, string>> }) => {
  const languages = Object.keys(samples);
  const [language, setLanguage] = useState(languages[0] ?? "");
  return (
    <CodeBlock
      label={language}
      header={
        <Segmented
          label={texts.language}
          value={language}
          onValueChange={setLanguage}
          options={languages.map((name) => ({ value: name, text: name }))}
        />
      }
      code={samples[language] ?? ""}
      copyLabel={texts.copyCode}
    />
  );
};
