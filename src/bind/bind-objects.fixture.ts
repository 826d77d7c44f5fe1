import type { KubeObject } from "../kube/objects.ts";

/** The three kinds of the document, small, with a UID each. */
const API_VERSION = "bindy.firestoned.io/v1beta1";

export const provider = (spec: object = {}, name = "platform"): KubeObject => ({
  apiVersion: API_VERSION,
  kind: "ClusterBind9Provider",
  metadata: { name, uid: `uid-of-${name}` },
  spec,
});

export const cluster = (spec: object = {}, name = "dns"): KubeObject => ({
  apiVersion: API_VERSION,
  kind: "Bind9Cluster",
  metadata: { name, namespace: "net", uid: `uid-of-${name}` },
  spec,
});

export const instance = (spec: object = {}, name = "dns-primary-0"): KubeObject => ({
  apiVersion: API_VERSION,
  kind: "Bind9Instance",
  metadata: { name, namespace: "net", uid: `uid-of-${name}` },
  spec: { clusterRef: "dns", role: "primary", ...spec },
});

/** 128 bits, as in the document's own example: allowed, and shorter than the HMAC. */
export const SHORT_SECRET = "dGhpc2lzYXNlY3JldGtleQ==";
/** As long as the HMAC of SHA-256. */
export const LONG_SECRET = Buffer.from("0123456789abcdef0123456789ABCDEF").toString("base64");

export const keyFile = (secret = LONG_SECRET, algorithm = "hmac-sha256", name = "bindy-operator"): string =>
  `key "${name}" {\n    algorithm ${algorithm};\n    secret "${secret}";\n};\n`;

export const inlineSecret = (name = "shared-key", file = keyFile()): object => ({
  metadata: { name },
  stringData: { "rndc.key": file },
});
