import { type Dockerfile, type Instruction, ofKeyword } from "./dockerfile.ts";

/** What is known of the checkout, and of what the image is to be. */
export interface Surroundings {
  readonly ignoreFile: string;
  readonly isThere: (path: string) => boolean;
  /** Whom the Deployment runs it as. */
  readonly userId: number;
}

const BASES = ["BUILD_IMAGE", "BASE_IMAGE"];
const TREE_COMMAND = "node tools/image-tree.ts ";

/** What a build would stumble over, or what would make an image other than the one that is tested. Pure. */
export function dockerfileFindings(file: Dockerfile, around: Surroundings): readonly string[] {
  return [...baseFindings(file), ...copyFindings(file, around), ...treeFindings(file), ...lastFindings(file, around)];
}

/** Which image it was built on must be somebody's decision, not that of the day. */
function baseFindings({ preamble, stages }: Dockerfile): readonly string[] {
  const declared = ofKeyword(preamble, "ARG").map(({ words }) => words[0] ?? "");
  const names = stages.map(({ name }) => name);
  return [
    ...BASES.filter((base) => !declared.includes(base)).map((base) => `ARG ${base} is missing, or has a default`),
    ...stages
      .filter(({ image }) => !names.includes(image) && !BASES.some((base) => image === `\${${base}}`))
      .map(({ image }) => `FROM ${image}: not a build argument`),
  ];
}

function copyFindings({ stages }: Dockerfile, { ignoreFile, isThere }: Surroundings): readonly string[] {
  const patterns = ignoreFile.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const letIn = new Set(patterns.filter((line) => line.startsWith("!")).map((line) => line.slice(1)));
  const sources = stages.flatMap(({ instructions }) => contextCopies(instructions)).flatMap(sourcesOf);
  return [
    ...(patterns[0] === "*" ? [] : [".dockerignore lets in what it does not name"]),
    ...sources.filter((source) => !isThere(source)).map((source) => `COPY ${source}: not in the checkout`),
    ...sources.filter((source) => !letIn.has(source)).map((source) => `COPY ${source}: kept out by .dockerignore`),
    ...[...letIn].filter((name) => !sources.includes(name)).map((name) => `.dockerignore: ${name} is copied nowhere`),
    ...stages
      .flatMap(({ instructions }) => instructions)
      .filter(({ keyword, flags }) => keyword === "COPY" && flags.from !== undefined)
      .filter(({ flags }) => !stages.some(({ name }) => name === flags.from))
      .map(({ flags }) => `COPY --from=${flags.from}: there is no such stage`),
  ];
}

/** One tree for the image and for the test: what is copied into the last stage is what the command has made. */
function treeFindings(file: Dockerfile): readonly string[] {
  const made = treeFolder(file);
  if (made === undefined) return [`no stage runs ${TREE_COMMAND.trim()}`];
  const copies = (file.stages.at(-1)?.instructions ?? []).filter(({ keyword }) => /^(COPY|ADD)$/.test(keyword));
  return copies.length === 1 && copies[0]?.words[0] === made ? [] : [`the last stage copies other things than ${made}`];
}

function lastFindings({ stages }: Dockerfile, { userId }: Surroundings): readonly string[] {
  const instructions = stages.at(-1)?.instructions ?? [];
  const last = (keyword: string): Instruction | undefined => ofKeyword(instructions, keyword).at(-1);
  const target = last("COPY")?.words[1];
  const [program] = last("ENTRYPOINT")?.words ?? [];
  const path = last("ENV")?.words.find((word) => word.startsWith("PATH=")) ?? "";
  return [
    ...(last("USER")?.words[0] === `${userId}:${userId}` ? [] : [`USER is not ${userId}:${userId}, by number`]),
    ...(ofKeyword(instructions, "RUN").length > 0 ? ["RUN in the last stage: it has no shell"] : []),
    ...["ENTRYPOINT", "CMD"].filter((word) => last(word)?.isList === false).map((word) => `${word} needs a shell`),
    ...(program === `${target}/bin/keyturn` ? [] : [`ENTRYPOINT is not ${target}/bin/keyturn`]),
    ...(path.startsWith(`PATH=${target}/bin:`) ? [] : [`keyturn is not on the PATH`]),
  ];
}

/** Copies from the checkout, not from another stage. */
export const contextCopies = (instructions: readonly Instruction[]): readonly Instruction[] =>
  instructions.filter(({ keyword, flags }) => /^(COPY|ADD)$/.test(keyword) && flags.from === undefined);

export const sourcesOf = ({ words }: Instruction): readonly string[] => words.slice(0, -1);

/** Where the tree is made, in the stage that makes it. */
function treeFolder({ stages }: Dockerfile): string | undefined {
  const runs = stages.slice(0, -1).flatMap(({ instructions }) => ofKeyword(instructions, "RUN"));
  const command = runs.map(({ words }) => words.join(" ")).find((line) => line.startsWith(TREE_COMMAND));
  return command?.split(" ").at(-1);
}
