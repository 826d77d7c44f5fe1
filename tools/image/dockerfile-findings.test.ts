import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { USER_ID } from "../../src/install/deployment.ts";
import { root } from "../run.ts";
import { parseDockerfile } from "./dockerfile.ts";
import { dockerfileFindings } from "./dockerfile-findings.ts";

const read = (name: string): string => readFileSync(join(root, name), "utf8");
const dockerfile = read("Dockerfile");
const around = {
  ignoreFile: read(".dockerignore"),
  isThere: (path: string) => existsSync(join(root, path)),
  userId: USER_ID,
};

test("nothing is wrong with the Dockerfile", () => {
  assert.deepEqual(dockerfileFindings(parseDockerfile(dockerfile), around), []);
});

/** What is put in the place of what, and what is then said. */
const rows: readonly (readonly [from: string, to: string, finding: RegExp])[] = [
  ["ARG BASE_IMAGE\n", "ARG BASE_IMAGE=node:24\n", /ARG BASE_IMAGE is missing, or has a default/],
  ["ARG BUILD_IMAGE\n", "", /ARG BUILD_IMAGE is missing/],
  [`FROM \${BASE_IMAGE}`, "FROM node:24-slim", /FROM node:24-slim: not a build argument/],
  ["COPY src ./src", "COPY sources ./src", /COPY sources: not in the checkout/],
  ["COPY src ./src", "COPY docs ./docs", /COPY docs: kept out by .dockerignore/],
  ["COPY tools ./tools\n", "", /tools is copied nowhere/],
  ["--from=build", "--from=other", /COPY --from=other: there is no such stage/],
  [`RUN node tools/image-tree.ts --node \${NODE} /image/keyturn`, "RUN npm run build", /no stage runs/],
  ["COPY --from=build /image/keyturn", "COPY --from=build /source", /copies other things than \/image\/keyturn/],
  ["USER 65532:65532", "USER node", /USER is not 65532:65532, by number/],
  ["USER 65532:65532\n", "", /USER is not 65532:65532, by number/],
  ["WORKDIR /keyturn\n", "RUN ls\n", /it has no shell/],
  ['CMD ["--help"]', "CMD --help", /CMD needs a shell/],
  ['"/keyturn/bin/keyturn"', '"keyturn"', /ENTRYPOINT is not \/keyturn\/bin\/keyturn/],
  ["ENV PATH=/keyturn/bin:", "ENV PATH=", /keyturn is not on the PATH/],
];

for (const [from, to, finding] of rows) {
  test(`${JSON.stringify(to)} instead of ${JSON.stringify(from)} is found`, () => {
    assert.ok(dockerfile.includes(from), "the Dockerfile says something else by now");
    const findings = dockerfileFindings(parseDockerfile(dockerfile.replace(from, () => to)), around);
    assert.match(findings.join("\n"), finding);
  });
}

test("a .dockerignore that lets everything in is found", () => {
  const findings = dockerfileFindings(parseDockerfile(dockerfile), {
    ...around,
    ignoreFile: around.ignoreFile.replace("\n*\n", "\n"),
  });
  assert.deepEqual(findings, [".dockerignore lets in what it does not name"]);
});

test("a line that is continued is one instruction, and comments are none", () => {
  const { stages } = parseDockerfile("# about\nFROM x AS y\nRUN a \\\n  # why\n  --b\nCOPY --from=z --chown=1 /c /d\n");
  assert.deepEqual(stages, [
    {
      name: "y",
      image: "x",
      instructions: [
        { keyword: "RUN", flags: {}, words: ["a", "--b"], isList: false },
        { keyword: "COPY", flags: { from: "z", chown: "1" }, words: ["/c", "/d"], isList: false },
      ],
    },
  ]);
});
