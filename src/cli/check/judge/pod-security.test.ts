import assert from "node:assert/strict";
import { test } from "node:test";
import { barredBy } from "./pod-security.ts";

const strict = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
const pod = { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } };
const spec = (container: object, more: object = pod): object => ({
  ...more,
  containers: [{ securityContext: container }],
});

test("what a Pod Security level keeps out", () => {
  const cases: readonly (readonly [
    level: string | undefined,
    spec: object,
    barred: readonly string[],
    reason: string,
  ])[] = [
    ["restricted", spec(strict), [], "as the manifests have it"],
    ["restricted", spec(strict, {}), ["runAsNonRoot is not true", "no seccompProfile"], "nothing said of the pod"],
    [
      "restricted",
      spec({ ...strict, runAsNonRoot: false }),
      ["runAsNonRoot is not true"],
      "a container goes before its pod",
    ],
    [
      "restricted",
      spec({ ...strict, seccompProfile: { type: "Unconfined" } }),
      ["no seccompProfile"],
      "a profile that is none",
    ],
    [
      "restricted",
      spec({}),
      ["allowPrivilegeEscalation is not false", "capabilities are not dropped"],
      "nothing said of it",
    ],
    ["baseline", spec({}), [], "that is enough there"],
    ["baseline", spec({ privileged: true }), ["privileged"], "not this"],
    ["baseline", { ...spec({}), hostNetwork: true, hostPID: true }, ["hostNetwork", "hostPID"], "the host's"],
    ["baseline", { ...spec({}), volumes: [{ hostPath: { path: "/" } }] }, ["a hostPath volume"], "nor its files"],
    ["privileged", spec({ privileged: true }), [], "everything is let in"],
    [undefined, spec({ privileged: true }), [], "nothing is enforced"],
  ];
  for (const [level, given, barred, reason] of cases) assert.deepEqual(barredBy(level, given), barred, reason);
});
