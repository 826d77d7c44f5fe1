import type { JSX } from "preact";
import type { CredentialId, Row } from "../../../src/dashboard/wire.ts";
import { credentialPath, secretPath } from "../route/route.ts";
import { isShortName, type NameParts, namePartsOf } from "./name-parts.ts";

/** `checkout shop`: the name, and quieter its namespace. `bdi`: a name that turns its letters around turns only its own. */
export const PlacedName = ({ name, namespace }: NameParts): JSX.Element => (
  <>
    <bdi>{name}</bdi>
    {namespace === undefined ? null : (
      <>
        {" "}
        <bdi class="namespace">{namespace}</bdi>
      </>
    )}
  </>
);

export const RowName = ({ row }: { row: Row }): JSX.Element => (
  <span title={row.parent === undefined ? undefined : `a key of ${row.parent}`}>
    {row.parent === undefined ? null : <span class="faint">↳ </span>}
    <PlacedName name={row.name} {...(row.namespace !== undefined && { namespace: row.namespace })} />
  </span>
);

export const CredentialLink = ({ id }: { id: CredentialId }): JSX.Element => {
  const [kind = "", ...path] = id.split("/");
  return (
    <a href={credentialPath(id)} class="name">
      <PlacedName {...namePartsOf(path.join("/"))} /> <span class="kind">{kind}</span>
    </a>
  );
};

/** `isShort`: without its namespace, where that is chosen and said already. */
export function SecretLink({ secret, isShort }: { secret: string | undefined; isShort?: boolean }): JSX.Element {
  if (secret === undefined) return <span class="faint">-</span>;
  const path = secretPath(secret);
  const { name, namespace } = namePartsOf(secret);
  const shown = isShort || namespace === undefined ? { name } : { name, namespace };
  const look = isShortName(secret) ? "name whole" : "name";
  return path === undefined ? (
    <span class={look}>
      <PlacedName {...shown} />
    </span>
  ) : (
    <a href={path} class={look}>
      <PlacedName {...shown} />
    </a>
  );
}
