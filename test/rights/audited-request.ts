import { customResources } from "../../src/api/custom-resources.ts";
import { apiVersionOf } from "../../src/kube/objects.ts";

/** A line of a server's audit log, as far as it tells of the rights of an operator. */
export interface AuditedRequest {
  /** Where the operator's ServiceAccount is, and with it everything that is the operator's own. */
  readonly home: string;
  /** Of the ServiceAccount. */
  readonly account: string;
  readonly version: string;
  /** The controllers that asked; none: the operator as a whole. */
  readonly callers: readonly string[];
  readonly verb: string;
  readonly group: string;
  /** With its subresource. */
  readonly resource: string;
  /** Undefined where it was asked of all namespaces, or of what is in none. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** Something was made by it, though it did not have to be. */
  readonly isCreated: boolean;
  /** Whose deletion an object in it holds up, as `group/plural`. */
  readonly blocks: readonly string[];
  /** In the server's words, where it was refused for want of a right. */
  readonly refusal?: string | undefined;
}

interface AuditEvent {
  readonly user: { readonly username: string };
  readonly impersonatedUser?: object;
  readonly userAgent?: string;
  readonly verb: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly requestObject?: unknown;
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An installation's, or one of those that `operatorAccess` makes. */
const ACCOUNT = /^system:serviceaccount:([^:]+):(keyturn|keyturn-of-[^:]+)$/;
const USER_AGENT = /^keyturn\/(\S+)(?: \(([^)]*)\))?$/;
/** Where a check comes after the one that the server writes down: of owners, and of what a patch makes. */
const REFUSED = /is forbidden: (User "|cannot set (blockOwnerDeletion|an ownerRef))/;

/** As somebody at all, or for this one verb. */
const MAY_NOT_ACT = /cannot impersonate(?:-on:[\w:-]+)? resource/;

/** Of a server that has only just started, and has yet to read the roles that bindings name. */
const NOT_YET = /RBAC: \[?(cluster)?role\S* "[^"]+" not found/;

/** Undefined for whoever is no operator, for what everybody may ask, and for what was asked with the rights of somebody else. */
export function readAuditLine(line: string): AuditedRequest | undefined {
  const event = JSON.parse(line) as AuditEvent;
  const [, home, account] = ACCOUNT.exec(event.user.username) ?? [];
  const [, version, callers = ""] = USER_AGENT.exec(event.userAgent ?? "") ?? [];
  const { objectRef: { resource, subresource, apiGroup: group = "", namespace, name } = {}, verb } = event;
  if (home === undefined || account === undefined || version === undefined) return undefined;
  if (resource === undefined || event.impersonatedUser) return undefined;
  if (group === "authorization.k8s.io" && resource.startsWith("selfsubject")) return undefined;
  const refusal = refusalOf(event);
  // Whom an operator may act as is granted by others, namespace by namespace, and not by an installation.
  if (refusal !== undefined && MAY_NOT_ACT.test(refusal)) return undefined;
  return {
    home,
    account,
    version,
    callers: callers === "" ? [] : [...new Set(callers.split(","))],
    verb,
    group,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    namespace,
    name,
    isCreated: verb === "patch" && event.responseStatus?.code === 201,
    blocks: blockedBy(event.requestObject),
    refusal,
  };
}

function refusalOf({ responseStatus: { code, message = "" } = {}, annotations = {} }: AuditEvent): string | undefined {
  if (code !== 403 || NOT_YET.test(message)) return undefined;
  const isForbidden = annotations["authorization.k8s.io/decision"] === "forbid" || REFUSED.test(message);
  return isForbidden ? message.replace(/^.*? is forbidden: /, "").replace(/User "[^"]*" /, "") : undefined;
}

interface Owned {
  readonly metadata?: {
    readonly ownerReferences?: readonly {
      readonly apiVersion: string;
      readonly kind: string;
      readonly blockOwnerDeletion?: boolean;
    }[];
  };
}

function blockedBy(object: unknown): readonly string[] {
  const references = (object as Owned | undefined)?.metadata?.ownerReferences ?? [];
  return references
    .filter(({ blockOwnerDeletion }) => blockOwnerDeletion)
    .map(({ apiVersion, kind }) => {
      const own = customResources.find((type) => type.kind === kind && apiVersionOf(type) === apiVersion);
      return own ? `${own.group}/${own.plural}` : `${apiVersion.split("/").slice(0, -1).join()}/${kind}`;
    });
}
