import assert from "node:assert/strict";
import type { Page } from "playwright-core";

/** More stops than any page has. */
const MOST_STOPS = 150;

/** Somebody who has keys alone, and knows where they are by what is said of it. */
export class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** What the element is called that has the focus; empty where none has. */
  focused(): Promise<string> {
    return this.#page.evaluate(() => {
      const { activeElement: element } = document;
      if (!element || element === document.body) return "";
      const isField = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
      const label = isField || element instanceof HTMLSelectElement ? element.labels?.[0] : undefined;
      const named = label?.firstElementChild ?? label ?? element;
      return (element.getAttribute("aria-label") ?? named.textContent ?? "").trim();
    });
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key);
  }

  /** With Tab, or with Shift and Tab the other way. */
  async tabTo(name: RegExp, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
    const passed: string[] = [];
    for (let turn = 0; turn < MOST_STOPS; turn++) {
      await this.press(key);
      const focused = await this.focused();
      if (name.test(focused)) return;
      passed.push(focused);
    }
    assert.fail(`${name} is not to be reached; passed were ${[...new Set(passed)].join(" | ")}`);
  }

  async enter(name: RegExp): Promise<void> {
    await this.tabTo(name);
    await this.press("Enter");
  }

  /** Into the field that has the focus, instead of what stands there. */
  async type(text: string): Promise<void> {
    await this.press("Control+A", "Delete");
    await this.#page.keyboard.type(text);
  }

  /** As from a clipboard. */
  async paste(text: string): Promise<void> {
    await this.press("Control+A", "Delete");
    await this.#page.keyboard.insertText(text);
  }
}
