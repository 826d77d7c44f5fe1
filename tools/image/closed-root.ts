import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { USER_ID } from "../../src/install/deployment.ts";

/**
 * Runs programs as a container with a read-only root would: in a root folder that holds the tree, Node, its libraries and
 * nothing else, mounted read-only, as a user that nobody knows, and with an empty environment. Where mounts are not
 * permitted, the root stays the machine's own, and only the tree cannot be written to.
 */
export interface ClosedRoot {
  /** What was done, for the output. */
  readonly words: string;
  /** The path that a file of the root folder has for the programs. */
  readonly pathOf: (file: string) => string;
  /** What a program gets when it writes there. */
  readonly refusal: "EROFS" | "EACCES";
  /** `program` is a script of the tree, or absent: Node itself. */
  start(program: string | undefined, words: readonly string[]): ChildProcessByStdio<null, Readable, Readable>;
  /** So that it can be removed. */
  open(): Promise<void>;
}

/** Where the distroless images have it. */
const NODE = "nodejs/bin/node";

const run = promisify(execFile);

/** Mounts are seen by this process and its children alone, and gone with them. */
const MOUNT_AND_RUN = `
set -e
root=$1; shift
mount --bind "$root" "$root"
mount --bind /proc "$root/proc"
for device in null urandom; do mount --bind "/dev/$device" "$root/dev/$device"; done
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs env -i "$(command -v chroot)" --userspec=${USER_ID}:${USER_ID} --groups= "$root" "$@"
`;

/** `folder` holds the tree as `keyturn/`. */
export async function closeRoot(folder: string): Promise<ClosedRoot> {
  for (const path of [dirname(folder), folder]) await chmod(path, 0o755);
  const whyNot = await furnish(folder).then(
    () => tryMounts(folder),
    (error: unknown) => String(error),
  );
  return whyNot === undefined ? mountedRoot(folder) : plainRoot(folder, whyNot);
}

/** Node and the libraries that it is linked with, and what every container has. */
async function furnish(folder: string): Promise<void> {
  const { stdout } = await run("ldd", [process.execPath]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => path);
  for (const [from, to] of [[process.execPath, NODE] as const, ...libraries.map((path) => [path, path] as const)]) {
    const target = join(folder, to);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(from, target);
    await chmod(target, 0o755);
  }
  for (const name of ["proc", "dev", "tmp"]) await mkdir(join(folder, name));
  for (const device of ["null", "urandom"]) await writeFile(join(folder, "dev", device), "");
}

const mountWords = (folder: string): readonly string[] => [
  "--mount",
  "--propagation=private",
  "--",
  "sh",
  "-c",
  MOUNT_AND_RUN,
  "sh",
  folder,
];

const environment = { PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

async function tryMounts(folder: string): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root may";
  const words = [...mountWords(folder), `/${NODE}`, "--version"];
  return run("unshare", words, { env: environment }).then(
    () => undefined,
    // The command line comes first in it.
    (error: unknown) => String(error).trim().split("\n").at(-1),
  );
}

const mountedRoot = (folder: string): ClosedRoot => ({
  words: `a root of its own, mounted read-only (unshare, chroot), as user ${USER_ID}`,
  pathOf: (file) => `/${file}`,
  refusal: "EROFS",
  start: (program, words) => {
    const command = program === undefined ? `/${NODE}` : `/${program}`;
    return spawn("unshare", [...mountWords(folder), command, ...words], {
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
  },
  open: async () => {},
});

/** By the bits. Root would not be kept from anything, so it becomes somebody else; others take the right from themselves. */
async function plainRoot(folder: string, whyNot: string): Promise<ClosedRoot> {
  const isRoot = process.getuid?.() === 0;
  const tree = join(folder, "keyturn");
  const copied = join(folder, NODE);
  const node = existsSync(copied) ? copied : process.execPath;
  if (!isRoot) await run("chmod", ["-R", "a-w", tree]);
  return {
    words: `nothing but a tree that it may not write to${isRoot ? `, as user ${USER_ID}` : ""}, for want of mounts: ${whyNot}`,
    pathOf: (file) => join(folder, file),
    refusal: "EACCES",
    start: (program, words) =>
      spawn(node, [...(program === undefined ? [] : [join(folder, program)]), ...words], {
        env: {},
        stdio: ["ignore", "pipe", "pipe"],
        ...(isRoot && { uid: USER_ID, gid: USER_ID }),
      }),
    open: async () => {
      if (!isRoot) await run("chmod", ["-R", "u+w", tree]);
    },
  };
}
