import { execFile } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { KubeObject } from "../../src/kube/objects.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { type Fields, fields, listOf, secretsOf, textsOf } from "./secret-texts.ts";

const run = promisify(execFile);

export type SecretReader = (name: string) => Promise<KubeObject>;

export type Services = Readonly<Record<string, readonly Fields[]>>;

export interface BoundTo {
  /** What the binding library gives out. */
  readonly found: Fields;
  readonly services: Services | null;
}

/**
 * What a container of a pod finds when it starts: files as the kubelet writes them, and the environment. Knows volumes and
 * variables from Secrets, no others.
 */
export class Container {
  readonly #root = scratchFolder();
  readonly environment: Readonly<Record<string, string>>;

  private constructor(environment: Readonly<Record<string, string>>) {
    this.environment = environment;
  }

  static async start({ spec }: KubeObject, read: SecretReader): Promise<Container> {
    const { containers, volumes } = fields(spec);
    const [container = {}] = listOf(containers);
    const env = await Promise.all(listOf(container.env).map((variable) => variableOf(variable, read)));
    const made = new Container(Object.fromEntries(env));
    for (const mount of listOf(container.volumeMounts)) {
      const volume = listOf(volumes).find(({ name }) => name === mount.name);
      for (const secretName of secretsOf(volume ?? {}))
        made.#mount(String(mount.mountPath), textsOf(await read(secretName)));
    }
    return made;
  }

  /** What VCAP_SERVICES says. */
  services(): Services {
    return JSON.parse(this.environment.VCAP_SERVICES ?? "{}") as Services;
  }

  /** Runs the application in it. */
  async run(...words: readonly string[]): Promise<BoundTo> {
    const { SERVICE_BINDING_ROOT: root = "", ...rest } = this.environment;
    const env = { PATH: process.env.PATH ?? "", ...rest, SERVICE_BINDING_ROOT: join(this.#root, root) };
    const program = join(import.meta.dirname, "bound-app.ts");
    const { stdout } = await run(process.execPath, [program, ...words], { env });
    // Before its own words stand those of the library.
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as BoundTo;
  }

  /** A directory of one moment, and links to it that move together. */
  #mount(path: string, texts: Readonly<Record<string, string>>): void {
    const folder = join(this.#root, path);
    const moment = "..2026_01_01_00_00_00.1";
    mkdirSync(join(folder, moment), { recursive: true });
    for (const [key, text] of Object.entries(texts)) writeFileSync(join(folder, moment, key), text);
    symlinkSync(moment, join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    for (const key of Object.keys(texts)) symlinkSync(join("..data", key), join(folder, key));
  }
}

async function variableOf({ name, value, valueFrom }: Fields, read: SecretReader): Promise<[string, string]> {
  const { secretKeyRef } = fields(valueFrom);
  if (secretKeyRef === undefined) return [String(name), String(value ?? "")];
  const { name: secretName, key } = fields(secretKeyRef);
  return [String(name), textsOf(await read(String(secretName)))[String(key)] ?? ""];
}
