/** A Dockerfile as data: its instructions, stage by stage. Knows what our own says, and no more of the language. */
export interface Instruction {
  readonly keyword: string;
  /** `--from=build` and the like. */
  readonly flags: Readonly<Record<string, string>>;
  /** What follows, word by word; a list in JSON is one word for each of its items. */
  readonly words: readonly string[];
  readonly isList: boolean;
}

interface Stage {
  readonly name: string | undefined;
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

export interface Dockerfile {
  /** What stands before the first stage. */
  readonly preamble: readonly Instruction[];
  readonly stages: readonly Stage[];
}

export function parseDockerfile(text: string): Dockerfile {
  const preamble: Instruction[] = [];
  const stages: { name: string | undefined; image: string; instructions: Instruction[] }[] = [];
  for (const instruction of instructionsOf(text)) {
    if (instruction.keyword === "FROM") {
      const [image = "", as = "", name] = instruction.words;
      stages.push({ image, name: as.toUpperCase() === "AS" ? name : undefined, instructions: [] });
    } else (stages.at(-1)?.instructions ?? preamble).push(instruction);
  }
  return { preamble, stages };
}

export const ofKeyword = (instructions: readonly Instruction[], keyword: string): readonly Instruction[] =>
  instructions.filter((instruction) => instruction.keyword === keyword);

function instructionsOf(text: string): readonly Instruction[] {
  const lines = text.split("\n").filter((line) => !/^\s*(#|$)/.test(line));
  return lines.join("\n").replaceAll(/\\\n/g, " ").split("\n").filter(Boolean).map(parseInstruction);
}

function parseInstruction(line: string): Instruction {
  const [keyword = "", ...rest] = line.trim().split(/\s+/);
  const words = rest.filter((word) => !word.startsWith("--") || keyword.toUpperCase() === "RUN");
  const flags = rest.filter((word) => !words.includes(word)).map((flag) => flag.slice(2).split("="));
  const isList = words[0]?.startsWith("[") === true;
  return {
    keyword: keyword.toUpperCase(),
    flags: Object.fromEntries(flags.map(([name, value = ""]) => [name, value])) as Readonly<Record<string, string>>,
    words: isList ? (JSON.parse(words.join(" ")) as readonly string[]) : words,
    isList,
  };
}
