import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { scratchFolder } from "../../support/scratch-folder.ts";

const run = promisify(execFile);

export interface HelmReleaseOptions {
  /** The program. */
  readonly helm: string;
  readonly kubeconfig: string;
  readonly name: string;
  readonly namespace: string;
}

/** A release in the hands of a person with Helm, who has nothing of their own on this machine. */
export class HelmRelease {
  readonly #options: HelmReleaseOptions;
  readonly #home = scratchFolder();

  constructor(options: HelmReleaseOptions) {
    this.#options = options;
  }

  /** With these values, in a namespace that is made for it. */
  async install(chart: string, values: object): Promise<void> {
    const file = join(this.#home, "values.json");
    await writeFile(file, JSON.stringify(values));
    await this.#say("install", this.#options.name, chart, "--create-namespace", "--values", file);
  }

  /** What was set stays as it was, what was not is what the new chart says, and this is set besides. */
  async upgrade(chart: string, ...sets: readonly string[]): Promise<void> {
    const words = sets.flatMap((each) => ["--set", each]);
    await this.#say("upgrade", this.#options.name, chart, "--reset-then-reuse-values", ...words);
  }

  async rollback(revision: number): Promise<void> {
    await this.#say("rollback", this.#options.name, String(revision));
  }

  /** With its hooks; rejects with what Helm says where one of them fails. */
  async uninstall(): Promise<void> {
    await this.#say("uninstall", this.#options.name);
  }

  /** Of each revision, oldest first: `chart status`. */
  async history(): Promise<readonly string[]> {
    const text = await this.#say("history", this.#options.name, "--output", "json");
    const all = JSON.parse(text) as readonly { readonly chart: string; readonly status: string }[];
    return all.map(({ chart, status }) => `${chart} ${status}`);
  }

  async #say(...words: readonly string[]): Promise<string> {
    const { helm, kubeconfig, namespace } = this.#options;
    const env = { PATH: process.env.PATH ?? "", HOME: this.#home, KUBECONFIG: kubeconfig };
    const { stdout } = await run(helm, [...words, "--namespace", namespace], { env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  }
}
