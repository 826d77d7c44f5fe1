import { type CompletedCommand, type CompletedFlag, namesOf } from "./completion-model.ts";

/** For bash, also the old one that macOS brings: `source <(keyturn completion bash)`. */
export const bashScript = (commands: readonly CompletedCommand[]): string => `# bash completion for keyturn
${bashFunction(commands)}
complete -F _keyturn keyturn
`;

/**
 * For `kubectl keyturn`, in whatever shell kubectl itself completes: kubectl runs a program called
 * `kubectl_complete-keyturn`, and takes what it prints.
 */
export const kubectlScript = (commands: readonly CompletedCommand[]): string => `#!/usr/bin/env bash
# completion for kubectl keyturn: save as kubectl_complete-keyturn on the PATH, and make it executable
${bashFunction(commands)}
COMP_WORDS=(keyturn "$@")
COMP_CWORD=$#
COMPREPLY=()
_keyturn
for reply in "\${COMPREPLY[@]}"; do printf '%s\\n' "$reply"; done
# 4: nothing but these; 0: files as well
if [[ -n $_keyturn_files ]]; then echo ":0"; else echo ":4"; fi
`;

/** Fills COMPREPLY from COMP_WORDS; `_keyturn_files` says whether files were asked for. */
const bashFunction = (commands: readonly CompletedCommand[]): string => `_keyturn() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="" command="\${COMP_WORDS[1]}" prefix="" candidates=""
  local first="" flags="" taking="" files="" words=0 at list=""
  COMPREPLY=()
  _keyturn_files=""
  if (( COMP_CWORD <= 1 )); then
    COMPREPLY=( $(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$current") )
    return 0
  fi
  case "$command" in
${commands.map(commandCase).join("\n")}
    *) return 0 ;;
  esac
  previous="\${COMP_WORDS[COMP_CWORD-1]}"
  # bash parts --flag=value into three words
  if [[ $current == "=" ]]; then current=""
  elif [[ $previous == "=" ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"
  elif [[ $current == --*=* ]]; then prefix="\${current%%=*}="; previous="\${current%%=*}"; current="\${current#*=}"
  fi
  if [[ " $taking " == *" $previous "* ]]; then
    case "$command $previous" in
${commands.flatMap(valueCases).join("\n")}
    esac
    if [[ -n $_keyturn_files ]]; then
      compopt -o filenames 2>/dev/null
      local IFS=$'\\n'
      COMPREPLY=( $(compgen -f -- "$current") )
      return 0
    fi
    if [[ -n $list && $current == *,* ]]; then
      local given=",\${current%,*}," each others=""
      prefix="$prefix\${current%,*},"; current="\${current##*,}"
      for each in $candidates; do [[ $given == *",$each,"* ]] || others="$others $each"; done
      candidates="$others"
    fi
    COMPREPLY=( $(compgen -P "$prefix" -W "$candidates" -- "$current") )
    return 0
  fi
  if [[ $current == -* ]]; then
    COMPREPLY=( $(compgen -W "$flags" -- "$current") )
    return 0
  fi
  for (( at = 2; at < COMP_CWORD; at++ )); do
    if [[ " $taking " == *" \${COMP_WORDS[at]} "* ]]; then
      if [[ \${COMP_WORDS[at+1]} == "=" ]]; then (( at += 2 )); else (( at += 1 )); fi
    elif [[ \${COMP_WORDS[at]} != -* ]]; then (( words += 1 ))
    fi
  done
  if (( words == 0 )); then COMPREPLY=( $(compgen -W "$first" -- "$current") )
  elif [[ -n $files ]]; then
    _keyturn_files=yes
    compopt -o filenames 2>/dev/null
    local IFS=$'\\n'
    COMPREPLY=( $(compgen -f -- "$current") )
  fi
}`;

function commandCase({ name, flags, first, takesFiles }: CompletedCommand): string {
  const taking = flags.filter(({ value }) => value !== undefined).flatMap(namesOf);
  const files = takesFiles ? " files=yes" : "";
  return `    ${name}) first="${first.join(" ")}" flags="${flags.flatMap(namesOf).join(" ")}" taking="${taking.join(" ")}"${files} ;;`;
}

function valueCases({ name, flags }: CompletedCommand): readonly string[] {
  return flags.flatMap((flag) => {
    const body = valueBody(flag);
    if (body === undefined) return [];
    return [
      `      ${namesOf(flag)
        .map((each) => `"${name} ${each}"`)
        .join("|")}) ${body} ;;`,
    ];
  });
}

function valueBody({ value }: CompletedFlag): string | undefined {
  if (value?.isFile) return "_keyturn_files=yes";
  if (!value || value.choices.length === 0) return undefined;
  return `candidates="${value.choices.join(" ")}"${value.isList ? " list=yes" : ""}`;
}
