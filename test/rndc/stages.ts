import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { folderFiles } from "../../src/sandbox/named/config-files.ts";
import { serveNamed } from "../../src/sandbox/named/serve-named.ts";
import { findOnPath } from "../support/find-on-path.ts";
import type { NamedStage } from "./named-stage.ts";

export const standIn: NamedStage = {
  name: "the stand-in",
  start: ({ folder }) =>
    serveNamed({ files: folderFiles(folder), configPath: "named.conf", clock: systemClock, random: systemRandom }),
};

/** BIND's own, as the user who runs the tests. */
export const realNamed = (program: string): NamedStage => ({
  name: "named",
  async start({ folder }) {
    const child = spawn(program, ["-g", "-4", "-n", "1", "-c", join(folder, "named.conf")], { stdio: "ignore" });
    const gone = once(child, "exit");
    return {
      async stop() {
        child.kill("SIGKILL");
        await gone;
      },
    };
  },
});

/** Daemons are often where the PATH of a person does not look. */
export async function findProgram(name: string): Promise<string | undefined> {
  const onPath = await findOnPath(name);
  if (onPath !== undefined) return onPath;
  const file = join("/usr/sbin", name);
  return access(file, constants.X_OK).then(
    () => file,
    () => undefined,
  );
}

export const NO_BIND = "BIND 9 is not installed (Debian: apt-get install bind9 bind9-utils bind9-dnsutils)";
