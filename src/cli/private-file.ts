import { open, rename, rm } from "node:fs/promises";

/** Writes a file that only its owner can read; a reader finds the old content or the new, never half of it. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  const partial = `${path}.partial`;
  await rm(partial, { force: true });
  const file = await open(partial, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
