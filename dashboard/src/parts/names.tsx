import type { JSX } from "preact";
import type { CredentialId, Row } from "../../../src/dashboard/wire.ts";
import { credentialPath, secretPath } from "../route/route.ts";

/** `shop/orders`, with the namespace quieter than the name. `bdi`: a name that turns its letters around turns only its own. */
export const RowName = ({ row }: { row: Row }): JSX.Element => (
  <bdi title={row.parent === undefined ? undefined : `a key of ${row.parent}`}>
    {row.parent === undefined ? null : <span class="faint">↳ </span>}
    {row.namespace === undefined ? null : <span class="faint">{row.namespace}/</span>}
    {row.name}
  </bdi>
);

export const CredentialLink = ({ id }: { id: CredentialId }): JSX.Element => {
  const [kind = "", ...name] = id.split("/");
  return (
    <a href={credentialPath(id)} class="name">
      <bdi>{name.join("/")}</bdi> <span class="kind">{kind}</span>
    </a>
  );
};

/** `isShort`: without its namespace, where that is chosen and said already. */
export function SecretLink({ secret, isShort }: { secret: string | undefined; isShort?: boolean }): JSX.Element {
  if (secret === undefined) return <span class="faint">-</span>;
  const path = secretPath(secret);
  return path === undefined ? (
    <bdi>{secret}</bdi>
  ) : (
    <a href={path} class="name">
      <bdi>{isShort ? secret.slice(secret.indexOf("/") + 1) : secret}</bdi>
    </a>
  );
}
