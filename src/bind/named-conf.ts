import { ACL_FILE, aclStatement, CONTROL_CHANNEL, CONTROLS_FILE, controlsStatement, KEYS_FILE } from "./render-ring.ts";

/**
 * named.conf of an instance: closed but for what it is there for, and with nothing in it that changes when a key is
 * rotated. Zones come later, and name the list of updaters. Must not: hold a key.
 */
export const PATHS = {
  /** What named writes. */
  work: "/var/cache/bind",
  config: "/etc/keyturn/config",
  /** The published Secret: the active key, for rndc within the pod. */
  key: "/etc/keyturn/key",
  ring: "/etc/keyturn/ring",
} as const;

export const NAMED_CONF = "named.conf";

/** Above what needs a privilege. */
export const DNS_PORT = 1053;

/** Where the pods have their keys from. */
export type KeyMount =
  /** From a ring, which may hold several. */
  | {
      readonly kind: "ring";
      readonly secretName: string;
      readonly ringName: string;
      /** The Secret is somebody else's, and may go: what named reads stands in the ring. */
      readonly isFollowed?: boolean;
    }
  /** From the published Secret itself: one key, always of the same name, read when named starts. */
  | { readonly kind: "file"; readonly secretName: string; readonly keyName: string };

export interface NamedOptions {
  readonly recursion: boolean;
  readonly keys: KeyMount;
}

const PRIVATE_NETWORKS = [
  "localhost",
  "localnets",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "fc00::/7",
];

export function namedConf({ recursion, keys }: NamedOptions): string {
  const options = [
    `directory "${PATHS.work}"`,
    "pid-file none",
    "session-keyfile none",
    `listen-on port ${DNS_PORT} { any; }`,
    `listen-on-v6 port ${DNS_PORT} { any; }`,
    `recursion ${recursion ? "yes" : "no"}`,
    `allow-recursion { ${(recursion ? PRIVATE_NETWORKS : ["none"]).join("; ")}; }`,
    "allow-query { any; }",
    "allow-transfer { none; }",
    // Without recursion there is nothing to validate, and no reason to ask anybody for trust anchors.
    `dnssec-validation ${recursion ? "auto" : "no"}`,
    "minimal-responses yes",
    "version none",
    "hostname none",
  ];
  return `options {\n${options.map((line) => `\t${line};\n`).join("")}};\n${keyStatements(keys)}`;
}

function keyStatements(keys: KeyMount): string {
  const include = (path: string): string => `include "${path}";\n`;
  if (keys.kind === "ring") {
    return [KEYS_FILE, CONTROLS_FILE, ACL_FILE].map((file) => include(`${PATHS.ring}/${file}`)).join("");
  }
  const names = [keys.keyName];
  return `${include(`${PATHS.key}/rndc.key`)}${controlsStatement(names, CONTROL_CHANNEL)}${aclStatement(names)}`;
}
