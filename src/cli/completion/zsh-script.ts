import { type CompletedCommand, type CompletedFlag, type FlagValue, namesOf } from "./completion-model.ts";

/** For zsh: a file `_keyturn` in the fpath, or `source <(keyturn completion zsh)` once compinit has run. */
export const zshScript = (commands: readonly CompletedCommand[]): string => `#compdef keyturn
_keyturn() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT -= 1 ))
  case $command in
${commands.map(commandCase).join("\n")}
  esac
}
# A file of the fpath is run as the function itself; a script that is sourced says whose it is.
if [[ $funcstack[1] == _keyturn ]]; then _keyturn "$@"; else compdef _keyturn keyturn; fi
`;

function commandCase({ name, flags, first, takesFiles }: CompletedCommand): string {
  const words = [
    ...(first.length > 0 ? [quoted(`1:word:(${first.join(" ")})`)] : []),
    ...(takesFiles ? [quoted("*:file:_files")] : []),
  ];
  const specs = [...flags.map(flagSpec), ...words];
  return `    ${name})\n      _arguments -S${specs.map((spec) => ` \\\n        ${spec}`).join("")}\n      ;;`;
}

/** `'(--output -o)'{--output=,-o+}'[what it is]:FORMAT:(text json)'` */
function flagSpec(flag: CompletedFlag): string {
  const { long, short, description, value } = flag;
  const said = `[${escaped(description)}]${value ? valueSpec(value) : ""}`;
  const forms = value ? [`${long}=`, ...(short ? [`${short}+`] : [])] : namesOf(flag);
  if (forms.length === 1) return quoted(`${forms[0]}${said}`);
  return `${quoted(`(${namesOf(flag).join(" ")})`)}{${forms.join(",")}}${quoted(said)}`;
}

function valueSpec({ name, choices, isList, isFile }: FlagValue): string {
  if (isFile) return `:${name}:${name === "DIR" ? "_files -/" : "_files"}`;
  if (choices.length === 0) return `:${escaped(name)}: `;
  return isList ? `:${name}:_values -s , ${name} ${choices.join(" ")}` : `:${name}:(${choices.join(" ")})`;
}

/** What the text of a spec must not have by itself. */
const escaped = (text: string): string => text.replaceAll(/[\\[\]:]/g, (character) => `\\${character}`);

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
