import type { ComponentChildren, JSX } from "preact";
import { Icon } from "./icon.tsx";

/** One line that somebody should read. A trouble is told at once to who does not see it. */
export function Notice({
  tone = "still",
  isSilent = false,
  children,
}: {
  tone?: "trouble" | "still";
  /** It changes as time goes, and was said where it began. */
  isSilent?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`notice tone-${tone}`} role={tone === "trouble" && !isSilent ? "alert" : undefined}>
      <Icon shape={tone === "trouble" ? "trouble" : "note"} />
      <div>{children}</div>
    </div>
  );
}

export const Empty = ({ children }: { children: ComponentChildren }): JSX.Element => <p class="empty">{children}</p>;

/** What could not be looked at, line by line. */
export function Unseen({ lines }: { lines: readonly string[] | undefined }): JSX.Element | null {
  if (!lines || lines.length === 0) return null;
  return (
    <Notice>
      Not looked at:{" "}
      {lines.map((line, index) => (
        <span key={line}>
          {index > 0 ? "; " : ""}
          {line}
        </span>
      ))}
    </Notice>
  );
}
