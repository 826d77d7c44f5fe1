import { type Figure, figure } from "./figures.ts";

/** Of what is measured again and again, the worst: the largest number under each name, in the order in which they came. */
export class Worst {
  readonly #values = new Map<string, { readonly value: number; readonly goal: string | undefined }>();

  note(name: string, value: number, goal?: string): void {
    const before = this.#values.get(name);
    // What is no number is worse than any.
    if (before === undefined || !(value <= before.value)) this.#values.set(name, { value, goal });
  }

  get figures(): readonly Figure[] {
    return [...this.#values].map(([name, { value, goal }]) => figure(name, value, goal));
  }
}
