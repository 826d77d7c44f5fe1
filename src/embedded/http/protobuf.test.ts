import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { decodeProtobuf } from "./protobuf.ts";
import { ProtobufError } from "./protobuf-reader.ts";

// Bytes and JSON as a real API server v1.36.3 gave them for one object each.
const DEPLOYMENT =
  "azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50EuIFCnoKA3dlYhIAGgJoNyIAKiQ3NTdkZDYyMC1iZjRlLTQ3NjYtYjQ0MC1hMzdjOTkwZTZmYTUyBTExNzE0OAFCCAjSkubXBhAAWgoKA2FwcBIDd2ViYiYKIWRlcGxveW1lbnQua3ViZXJuZXRlcy5pby9yZXZpc2lvbhIBMRLwAggAEgwKCgoDYXBwEgN3ZWIargIKHAoAEgAaACIAKgAyADgAQgBaCgoDYXBwEgN3ZWISjQIKEAoBYRILEgkKABIFCgMxR2kKGQoBYhIUMhIKAXgSCAoBaxIBcBgAGKQDIAESjQEKAWMSBW5naW54KgA6BgoBQRIBMToRCgFCEgAaCiIICgMKAXgSAWtCDwoNCgNjcHUSBgoEMTAwbVIlChkSFwoBLxIKCAEQABoEaHR0cBoAIgRIVFRQEAAYASAKKAEwA2oUL2Rldi90ZXJtaW5hdGlvbi1sb2dyBkFsd2F5c4ABAIgBAJABAKIBBEZpbGUaBkFsd2F5cyAeMgxDbHVzdGVyRmlyc3RCAEoAUgBYAGAAaAByChAAIAEgAiDgpxKCAQCKAQCaARFkZWZhdWx0LXNjaGVkdWxlcqgBAMIBACIkCg1Sb2xsaW5nVXBkYXRlEhMKCQgBEAAaAzMwJRIGCAAQARoAKAAwCjgASNgEGvABCAEQABgAIAAoADJlCglBdmFpbGFibGUSBFRydWUiGE1pbmltdW1SZXBsaWNhc0F2YWlsYWJsZSokRGVwbG95bWVudCBoYXMgbWluaW11bSBhdmFpbGFiaWxpdHkuMggI0pLm1wYQADoICNKS5tcGEAAyeQoLUHJvZ3Jlc3NpbmcSBFRydWUiFk5ld1JlcGxpY2FTZXRBdmFpbGFibGUqOFJlcGxpY2FTZXQgIndlYi01ZjRmZmY5ZGNkIiBoYXMgc3VjY2Vzc2Z1bGx5IHByb2dyZXNzZWQuMggI0pLm1wYQADoICNKS5tcGEAA4AEgAGgAiAA==";
const DEPLOYMENT_JSON =
  '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"h7","uid":"757dd620-bf4e-4766-b440-a37c990e6fa5","resourceVersion":"11714","generation":1,"creationTimestamp":"2026-11-15T10:28:34Z","labels":{"app":"web"},"annotations":{"deployment.kubernetes.io/revision":"1"}},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1Gi"}},{"name":"b","secret":{"secretName":"x","items":[{"key":"k","path":"p","mode":0}],"defaultMode":420,"optional":true}}],"containers":[{"name":"c","image":"nginx","env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"secretKeyRef":{"name":"x","key":"k"}}}],"resources":{"limits":{"cpu":"100m"}},"livenessProbe":{"httpGet":{"path":"/","port":"http","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"Always"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","automountServiceAccountToken":false,"securityContext":{"runAsUser":0,"supplementalGroups":[1,2,300000]},"schedulerName":"default-scheduler"}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"30%","maxSurge":1}},"revisionHistoryLimit":10,"progressDeadlineSeconds":600},"status":{"observedGeneration":1,"terminatingReplicas":0,"conditions":[{"type":"Available","status":"True","lastUpdateTime":"2026-11-15T10:28:34Z","lastTransitionTime":"2026-11-15T10:28:34Z","reason":"MinimumReplicasAvailable","message":"Deployment has minimum availability."},{"type":"Progressing","status":"True","lastUpdateTime":"2026-11-15T10:28:34Z","lastTransitionTime":"2026-11-15T10:28:34Z","reason":"NewReplicaSetAvailable","message":"ReplicaSet \\"web-5f4fff9dcd\\" has successfully progressed."}]}}';
const LEASE =
  "azhzAAofChZjb29yZGluYXRpb24uazhzLmlvL3YxEgVMZWFzZRJcCkQKAWwSABoCaDciACokMjgzZDNkYmItZDIwOS00MzMwLTliNmMtMzZhNmQ5MGE1NjdmMgUxMTcxNjgAQggI0pLm1wYQABIUCgJtZRAPIgwIpevcygYQiOrcwwIaACIA";
const LEASE_JSON =
  '{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l","namespace":"h7","uid":"283d3dbb-d209-4330-9b6c-36a6d90a567f","resourceVersion":"11716","creationTimestamp":"2026-11-15T10:28:34Z"},"spec":{"holderIdentity":"me","leaseDurationSeconds":15,"renewTime":"2026-01-02T03:04:05.678901Z"}}';

const cases = [
  {
    bytes: DEPLOYMENT,
    json: DEPLOYMENT_JSON,
    reason: "pointers to zero are kept, plain zeros dropped; int-or-string, quantities, inlined volume sources, times",
  },
  { bytes: LEASE, json: LEASE_JSON, reason: "micro times" },
];

for (const { bytes, json, reason } of cases) {
  test(`protobuf: ${reason}`, () => {
    assert.deepEqual(decodeProtobuf(Buffer.from(bytes, "base64")), JSON.parse(json), reason);
  });
}

const refused = [
  { bytes: Buffer.from("{}"), reason: "JSON sent as protobuf" },
  { bytes: Buffer.alloc(0), reason: "nothing" },
  { bytes: Buffer.from("k8s\u0000\n\u0005"), reason: "an envelope that breaks off" },
  { bytes: Buffer.from("k8s\u0000\n\u0006\n\u0001v\u0012\u0001X", "latin1"), reason: "a kind that is not known" },
  { bytes: Buffer.from(DEPLOYMENT, "base64").subarray(0, 300), reason: "an object that breaks off" },
];

for (const { bytes, reason } of refused) {
  test(`protobuf refuses ${reason}`, () => assert.throws(() => decodeProtobuf(bytes), ProtobufError));
}

test("protobuf: damaged bytes are decoded to something or refused, nothing else", () => {
  const whole = Buffer.from(DEPLOYMENT, "base64");
  const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(damage, (changes) => {
      const bytes = Buffer.from(whole);
      for (const [at, value] of changes) bytes[at] = value;
      try {
        assert.equal(typeof decodeProtobuf(bytes), "object");
      } catch (error) {
        assert.ok(error instanceof ProtobufError, String(error));
      }
    }),
    { numRuns: 500 },
  );
});
