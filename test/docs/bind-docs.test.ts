import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { alertGroups } from "../../src/install/monitoring/alerts.ts";
import { readPage } from "./markdown.ts";

const folder = join(import.meta.dirname, "..", "..");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");

/**
 * The documentation phase of the document on RNDC keys (docs/requirements/004), bullet by bullet: its line there, and the
 * heading that answers it here.
 */
const bullets: Readonly<Record<string, readonly (readonly [line: number, heading: string])[]>> = {
  "docs/bind.md": [
    [1323, "RNDC keys of BIND 9"],
    [1324, "RNDC Key Management Overview"],
    [1325, "What RNDC keys are, and why they matter"],
    [1326, "Security best practices for key management"],
    [1327, "Key lifecycle: generation, rotation, revocation"],
    [1328, "RndcKeyConfig API Reference"],
    [1329, "All fields, with examples"],
    [1330, "Precedence order"],
    [1331, "Enabling and disabling auto-rotation"],
    [1332, "Manual rotation trigger"],
    [1333, "Configuration Examples"],
    [1334, "Auto-rotation with defaults"],
    [1335, "User-managed Secrets without rotation"],
    [1336, "Inline Secret specs with rotation"],
    [1337, "Different keys for primary and secondary"],
    [1338, "Multi-environment configurations"],
    [1499, "Quick start"],
    [1500, "RNDC key rotation in the quick start"],
    [1501, "Examples with rndcKeys"],
    [1502, "A configuration that auditors accept"],
    [1503, "Monitoring rotation from the first day"],
  ],
  "docs/troubleshooting.md": [
    [1339, "Troubleshooting"],
    [1340, "Common rotation issues and solutions"],
    [1341, "How to verify rotation occurred"],
    [1342, "How to debug failed rotations"],
    [1343, "Emergency key rollback procedures"],
  ],
  "docs/compliance.md": [
    [1345, "Compliance"],
    [1346, "NIST SP 800-57"],
    [1347, "Key lifecycle management requirements"],
    [1348, "Recommended rotation intervals by key type"],
    [1349, "Documentation requirements for audits"],
    [1350, "NIST SP 800-53 Controls"],
    [1351, "AC-2 Account Management: credential lifecycle"],
    [1352, "IA-5 Authenticator Management: rotation policies"],
    [1353, "SC-12 Cryptographic Key Establishment and Management"],
    [1354, "FIPS 140-2 and 140-3 Considerations"],
    [1355, "Cryptographic module requirements"],
    [1356, "Key zeroization after rotation"],
    [1357, "Audit logging requirements"],
    [1358, "Industry-Specific Compliance"],
    [1359, "PCI DSS"],
    [1360, "HIPAA Security Rule"],
    [1361, "SOC 2 Trust Service Criteria"],
    [1362, "Recommended Rotation Intervals"],
    [1363, "High-security environments"],
    [1364, "Standard environments"],
    [1365, "Development environments"],
    [1366, "Audit Trail Requirements"],
    [1367, "What logs to collect for audits"],
    [1368, "How to demonstrate compliance"],
    [1369, "Sample audit report generation"],
    [1505, "Compliance checklist"],
    [1506, "Pre-deployment compliance verification"],
    [1507, "Configuration audit checklist"],
    [1508, "Documentation requirements for certification"],
    [1509, "Evidence collection for audits"],
  ],
  "docs/security.md": [
    [1371, "Security"],
    [1372, "Threat Model"],
    [1373, "Risks of long-lived keys"],
    [1374, "Attack vectors mitigated by rotation"],
    [1375, "Blast radius of compromised keys"],
    [1376, "Security Benefits"],
    [1377, "Reduced exposure window"],
    [1378, "Automated key hygiene"],
    [1379, "Zero-trust principles"],
    [1380, "Key Material Protection"],
    [1381, "Secret encryption at rest"],
    [1382, "RBAC configuration for Secret access"],
    [1383, "Preventing key material logging"],
    [1384, "Incident Response"],
    [1385, "Procedure for suspected key compromise"],
    [1386, "Emergency rotation process"],
    [1387, "Forensic logging and analysis"],
  ],
  "docs/migration/bindy.md": [
    [1389, "Moving to rotated RNDC keys"],
    [1390, "Breaking Changes Summary"],
    [1391, "New fields and schema changes"],
    [1392, "Deprecated fields that still work"],
    [1393, "Timeline for the removal of deprecated fields"],
    [1394, "Step-by-Step Migration"],
    [1395, "Pre-migration checklist"],
    [1396, "CRD update procedure"],
    [1397, "Manifest conversion examples"],
    [1398, "Rollback procedure"],
    [1399, "Migration for Different Deployment Models"],
    [1400, "Namespace-scoped clusters"],
    [1401, "Cluster-scoped providers"],
    [1402, "Mixed environments"],
    [1403, "Testing Migration"],
    [1404, "Validation before production"],
    [1405, "Dry-run procedures"],
    [1406, "Monitoring rotation after migration"],
    [1407, "Backward Compatibility Guarantee"],
    [1408, "How long deprecated fields are supported"],
    [1409, "Migration timeline recommendations"],
  ],
  "docs/runbook.md": [
    [1411, "Runbook"],
    [1412, "Day 1 Operations"],
    [1413, "Initial deployment with rotation enabled"],
    [1414, "Verification procedures"],
    [1415, "Monitoring setup"],
    [1416, "Day 2 Operations"],
    [1417, "Monitoring rotation health"],
    [1418, "Responding to rotation failures"],
    [1419, "Manual rotation procedures"],
    [1420, "Key rollback procedures"],
    [1421, "Common Operational Tasks"],
    [1422, "Changing rotation intervals"],
    [1423, "Disabling rotation temporarily"],
    [1424, "Re-enabling rotation"],
    [1425, "Forcing immediate rotation"],
    [1426, "Alerting and Monitoring"],
    [1427, "Key metrics to track"],
    [1428, "Alert thresholds"],
    [1429, "Dashboard setup"],
    [1430, "Troubleshooting Playbooks"],
    [1431, "Rotation stuck or hanging"],
    [1432, "Pods not restarting after rotation"],
    [1433, "Permission errors during rotation"],
    [1434, "Clock skew issues with timestamps"],
  ],
  "docs/api.md": [
    [1436, "API reference"],
    [1440, "All fields"],
    [1441, "Deprecated fields"],
    [1442, "Kinds, with guides and examples"],
  ],
  "CHANGELOG.md": [
    [1444, "Changelog"],
    [1450, "Added"],
    [1461, "Changed"],
    [1466, "Deprecated"],
  ],
  "docs/README.md": [
    [1511, "How the pages are checked"],
    [1515, "Internal links work"],
    [1516, "Code examples are valid"],
    [1517, "Figures render"],
    [1518, "The API reference is complete"],
  ],
};

for (const [file, answers] of Object.entries(bullets)) {
  test(`${file} has a heading for each bullet of the document's documentation phase`, () => {
    const headings = new Set(readPage(read(file)).headings);
    const missing = answers.filter(([, heading]) => !headings.has(heading));
    assert.deepEqual(missing, [], "line of the document, heading");
  });
}

test("no bullet is left out", () => {
  const lines = new Set(Object.values(bullets).flatMap((answers) => answers.map(([line]) => line)));
  // Between them stand commands, the text of a changelog, and blank lines.
  const spans = [
    [1323, 1343],
    [1345, 1369],
    [1371, 1387],
    [1389, 1409],
    [1411, 1434],
    [1440, 1442],
    [1499, 1503],
    [1505, 1509],
    [1515, 1518],
  ] as const;
  const expected = spans.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
  assert.deepEqual(
    expected.filter((line) => !lines.has(line)),
    [],
  );
});

const PARTS = ["What it means.", "First look.", "Mend.", "Escalate"];

test("every alert has its section in the runbook: what it means, where to look, how to mend, when to escalate", () => {
  const [, alerts = ""] = read("docs/runbook.md").split("\n## Alerts\n");
  const [text = ""] = alerts.split("\n## ");
  const sections = new Map(
    text
      .split("\n### ")
      .slice(1)
      .map((section) => [section.split("\n")[0] ?? "", section]),
  );
  const names = alertGroups.flatMap((group) => group.alerts.map(({ name }) => name));
  assert.deepEqual([...sections.keys()].sort(), [...names].sort());
  for (const [name, section] of sections) {
    const missing = PARTS.filter((part) => !section.includes(`**${part}`));
    assert.deepEqual(missing, [], `${name} has no such part`);
  }
});

/** Advice of the document that would do harm, and claims that nobody can make for others. */
const never: readonly (readonly [what: RegExp, why: string])[] = [
  [/replace\s+--force/, "it deletes every object of the kind"],
  [/--fips/, "there is no such flag"],
  [/fully compliant/i, "the project produces evidence"],
  [/(is|are|makes? \w+) (NIST|FIPS|PCI DSS|HIPAA|SOC 2)[- ]compliant/i, "the project produces evidence"],
];

test("nothing is advised that deletes what people have, and nothing claimed that only an assessor can say", () => {
  for (const file of globSync(["docs/*.md", "docs/{migration,tutorials,explanation}/*.md", "examples/*", "*.md"], {
    cwd: folder,
  })) {
    const text = read(file);
    for (const [what, why] of never) assert.doesNotMatch(text, what, `${file}: ${why}`);
  }
});

test("that rotation is off unless it is asked for is said where people look", () => {
  for (const file of ["docs/bind.md", "docs/migration/bindy.md", "docs/troubleshooting.md", "docs/api.md"]) {
    assert.match(read(file), /off (unless it is|until it is|where nothing is) (asked for|said)/i, file);
  }
});

test("what stands on the pages as YAML is YAML", () => {
  const pages = globSync(["docs/*.md", "docs/{migration,tutorials}/*.md"], { cwd: folder });
  const blocks = pages.flatMap((file) => readPage(read(file)).blocks.map((block) => ({ file, ...block })));
  const yaml = blocks.filter(({ language }) => language === "yaml");
  assert.ok(yaml.length > 20, `only ${yaml.length} were found: has the search stopped working?`);
  for (const { file, line, text } of yaml) {
    const errors = parseAllDocuments(text).flatMap((document) => document.errors.map(({ message }) => message));
    assert.deepEqual(errors, [], `${file}:${line}`);
  }
});
