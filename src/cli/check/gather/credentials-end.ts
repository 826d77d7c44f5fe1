import { Buffer } from "node:buffer";
import { recordOf } from "../../../kube/record.ts";
import type { Credentials } from "../../../kube/undici-transport.ts";
import { certificateEndsAt } from "../../../providers/service-manager/credentials.ts";

/** When credentials end, as far as they say so themselves: a token that is a JWT, a client certificate. */
export function credentialsEndAt({ authorization, tls }: Credentials): number | undefined {
  const token = authorization?.reveal();
  const certificate = token === undefined ? tls.clientCertificate : undefined;
  return certificate === undefined ? tokenEndsAt(token) : certificateEndsAt(certificate);
}

function tokenEndsAt(authorization: string | undefined): number | undefined {
  const [, payload] = /^Bearer [\w-]+\.([\w-]+)\.[\w-]*$/.exec(authorization ?? "") ?? [];
  if (payload === undefined) return undefined;
  try {
    const { exp } = recordOf(JSON.parse(Buffer.from(payload, "base64url").toString()));
    return typeof exp === "number" && Number.isFinite(exp) ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
