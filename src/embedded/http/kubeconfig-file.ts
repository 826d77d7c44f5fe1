import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { stringify } from "yaml";
import type { Redacted } from "../../base/redacted.ts";

export interface KubeconfigContent {
  readonly url: string;
  readonly authorityPem: string;
  readonly token: Redacted<string>;
}

/** Writes a kubeconfig that only its owner can read; a reader sees the old file or the new one, never half of one. */
export async function writeKubeconfig(path: string, content: KubeconfigContent): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(kubeconfigText(content));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function kubeconfigText({ url, authorityPem, token }: KubeconfigContent): string {
  const name = "keyturn";
  const authority = Buffer.from(authorityPem).toString("base64");
  return stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server: url, "certificate-authority-data": authority } }],
      users: [{ name, user: { token: token.reveal() } }],
      contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
      "current-context": name,
    },
    { lineWidth: 0 },
  );
}
