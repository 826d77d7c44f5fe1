import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const CURRENT = "..data";
const NEXT = "..data-next";

/**
 * A volume as the kubelet lays it out: each file is a link through `..data`, which is a link to a folder, and a new state
 * takes the place of the former one in one step. Must not: let anybody else read it.
 */
export class MountedVolume {
  readonly #path: string;
  #states = 0;

  /** The folder is new, and nobody else's. */
  constructor(path: string) {
    this.#path = path;
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }

  put(files: Readonly<Record<string, string>>): void {
    const former = `..state-${this.#states}`;
    const next = `..state-${++this.#states}`;
    mkdirSync(join(this.#path, next), { mode: 0o700 });
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(this.#path, next, name), text, { mode: 0o600 });
    }
    symlinkSync(next, join(this.#path, NEXT));
    renameSync(join(this.#path, NEXT), join(this.#path, CURRENT));
    this.#link(Object.keys(files));
    rmSync(join(this.#path, former), { recursive: true, force: true });
  }

  #link(names: readonly string[]): void {
    for (const name of names) {
      if (existsSync(join(this.#path, name))) continue;
      rmSync(join(this.#path, name), { force: true });
      symlinkSync(join(CURRENT, name), join(this.#path, name));
    }
    const left = readdirSync(this.#path).filter((name) => !name.startsWith("..") && !names.includes(name));
    for (const name of left) rmSync(join(this.#path, name));
  }
}
