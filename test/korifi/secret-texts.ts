import type { KubeObject } from "../../src/kube/objects.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** What a Secret says, by key. */
export const textsOf = ({ data }: KubeObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fields(data)).map(([key, value]) => [key, Buffer.from(String(value), "base64").toString()]),
  );

/** A JSON object; undefined where the text is anything else. */
export function objectIn(text: string | undefined): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** The name in a reference of a status. */
export function nameIn(object: KubeObject | undefined, reference: string): string | undefined {
  const { name } = fields(fields(object?.status)[reference]);
  return typeof name === "string" ? name : undefined;
}

export const isOwnedBy = ({ metadata }: KubeObject, owner: KubeObject | undefined): boolean =>
  owner !== undefined && (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);

/** The Secrets that are projected into a pod, or into the pods of a workload. */
export function projectedSecrets({ kind, spec }: KubeObject): readonly string[] {
  const podSpec = kind === "Pod" ? fields(spec) : fields(fields(fields(spec).template).spec);
  return listOf(podSpec.volumes).flatMap(secretsOf);
}

/** The Secrets of a projected volume, which may have other sources. */
export const secretsOf = ({ projected }: Fields): readonly string[] =>
  listOf(fields(projected).sources).flatMap(({ secret }) => {
    const { name } = fields(secret);
    return typeof name === "string" ? [name] : [];
  });

export const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []);
