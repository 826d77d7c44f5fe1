/** What is said about one thing. Whatever is not in order comes with what to do about it. */
export type Finding =
  | { readonly level: "ok"; readonly about: string; readonly message: string }
  | {
      readonly level: "hint" | "problem";
      readonly about: string;
      readonly message: string;
      readonly remedy: string;
      /** Something is missing that an installation brings along: before one, that is as it should be. */
      readonly comesWithInstall?: true;
    };

export const ok = (about: string, message: string): Finding => ({ level: "ok", about, message });

/** Worth knowing; it stands in nobody's way. */
export const hint = (about: string, message: string, remedy: string): Finding => ({
  level: "hint",
  about,
  message,
  remedy,
});

/** Something does not work, or will not. */
export const problem = (about: string, message: string, remedy: string): Finding => ({
  level: "problem",
  about,
  message,
  remedy,
});

/** The same of what an installation brings along. */
export const notYet = (finding: Finding): Finding =>
  finding.level === "ok" ? finding : { ...finding, comesWithInstall: true };

/** What a look has shown, or why it could not be taken: mostly a right that is missing. */
export type Sight<T> = { readonly isSeen: true; readonly value: T } | { readonly isSeen: false; readonly why: string };

export const seen = <T>(value: T): Sight<T> => ({ isSeen: true, value });

export const unseen = (why: string): Sight<never> => ({ isSeen: false, why });

/** What was not looked at is no problem that anybody could know of: it is said, and that is all. */
export const judged = <T>(
  sight: Sight<T>,
  about: string,
  judge: (value: T) => readonly Finding[],
): readonly Finding[] => (sight.isSeen ? judge(sight.value) : [notLookedAt(about, sight.why)]);

export const notLookedAt = (about: string, why: string): Finding =>
  hint(about, `could not be looked at: ${why}`, "check again with a kubeconfig that may read it");

const FEW = 3;

/** `a, b, c and 4 more` */
export function few(names: readonly string[]): string {
  const [shown, rest] = [names.slice(0, FEW).join(", "), names.length - FEW];
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** `1 Secret`, `2 Secrets` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
