/** Something in a spec that cannot be followed: where, and what to do about it. Never with a word of a key. */
export interface Problem {
  readonly field: string;
  readonly message: string;
}

/** What is found while a spec is read: all of it, not only the first. */
export class Findings {
  readonly problems: Problem[] = [];
  readonly warnings: string[] = [];

  problem(field: string, message: string): undefined {
    this.problems.push({ field, message });
    return undefined;
  }

  warning(text: string): void {
    this.warnings.push(text);
  }
}
