import { constants } from "node:fs";
import { access, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Logger } from "../../base/logger.ts";
import type { EmbeddedServer } from "../../embedded/embedded-server.ts";
import { freeLoopbackAddress } from "../../sandbox/named/loopback-address.ts";
import { type NamedProgram, namedProgram, standInProgram, withSubstitute } from "../../sandbox/named/named-program.ts";
import type { Flags, World } from "../command.ts";
import { readChoice } from "../flag-values.ts";
import { NamedKubelet } from "./named-kubelet.ts";

/** What the pods of Bind9Instances run, or why nothing. */
export interface NamedPlan {
  readonly program: NamedProgram | undefined;
  /** For people. */
  readonly words: string;
}

interface Around {
  readonly world: World;
  readonly logger: Logger;
}

const off = (words: string): NamedPlan => ({ program: undefined, words });

/** Refuses nonsense before anything is opened. */
export const readNamed = (flags: Flags) => readChoice(flags, "named", ["auto", "stand-in", "off"]);

export async function planNamed(wanted: ReturnType<typeof readNamed>, around: Around): Promise<NamedPlan> {
  const { world, logger } = around;
  const { clock, random } = world;
  if (wanted === "off") return off("off");
  // Each pod has an address of its own, and the ports are the same everywhere.
  if ((await freeLoopbackAddress({ ports: [0], random })) === undefined) {
    return off("off: each pod needs an address of 127.0.0.0/8 of its own, and this system has one alone");
  }
  const substitute = standInProgram({ clock, random, logger });
  const path = wanted === "auto" ? await findOnPath("named", world.environment.PATH) : undefined;
  const program =
    path === undefined ? substitute : withSubstitute(namedProgram(path, { clock, random }), substitute, logger);
  return { program, words: `${program.name} in each pod of a Bind9Instance, on an address of 127.0.0.0/8` };
}

/** Starts to play the kubelet. What an earlier run has left in the folder goes first. */
export async function openNamed(
  program: NamedProgram,
  { server: { objects, registry }, folder }: { readonly server: EmbeddedServer; readonly folder: string },
  { world: { clock }, logger }: Around,
): Promise<NamedKubelet> {
  await rm(folder, { recursive: true, force: true });
  const kubelet = new NamedKubelet({ objects, registry, program, folder, clock, logger });
  kubelet.start();
  return kubelet;
}

async function findOnPath(program: string, path = ""): Promise<string | undefined> {
  for (const directory of path.split(delimiter)) {
    if (directory === "") continue;
    const file = join(directory, program);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}
