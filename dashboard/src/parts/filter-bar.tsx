import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useNarrow } from "../app/hooks.ts";
import { usePage } from "../app/page-state.ts";
import {
  LIST_SORTS,
  LIST_STATES,
  type ListQuery,
  type ListSort,
  type ListState,
  namespaceOf,
} from "../list/list-query.ts";
import { counted, grouped } from "./words.ts";

const STATE_NAMES: Readonly<Record<ListState, string>> = {
  troubled: "with a problem",
  rotating: "rotating now",
  retired: "with retired keys",
  held: "held back",
  frozen: "frozen",
  paused: "paused",
  static: "never rotated",
};

const SORT_NAMES: Readonly<Record<ListSort, string>> = {
  trouble: "problems first",
  next: "next rotation",
  name: "name",
  kind: "kind",
  newest: "newest key",
};

/** Search and filters, the same for list and timeline; all of it stands in the address. */
export function FilterBar({
  query,
  shown,
  onChange,
}: {
  query: ListQuery;
  shown: number;
  onChange: (query: ListQuery) => void;
}): JSX.Element {
  const page = usePage();
  const choices = useComputed(() => {
    // Walks through all rows: once for each change of them, and not once for each drawing.
    void page.version.value;
    const kinds = new Set<string>();
    const namespaces = new Set<string>();
    for (const row of page.store.rows.values()) {
      kinds.add(row.kind);
      const namespace = namespaceOf(row);
      if (namespace !== undefined) namespaces.add(namespace);
    }
    return {
      total: page.store.rows.size,
      kinds: [...kinds].sort().join("\n"),
      namespaces: [...namespaces].sort().join("\n"),
    };
  });
  const { total, kinds, namespaces } = choices.value;
  const change = (part: { [K in keyof ListQuery]?: ListQuery[K] | undefined }): void => {
    const next = { ...query, ...part };
    // Without what is undefined it is a query again; fromEntries has no type for that.
    onChange(
      Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)) as unknown as ListQuery,
    );
  };
  const isNarrow = useNarrow();
  const chosen = [query.kind, query.namespace, query.state].filter(Boolean).length;
  const fields = (
    <>
      <Choice label="Kind" value={query.kind} choices={kinds.split("\n")} onChange={(kind) => change({ kind })} />
      <Choice
        label="Namespace"
        value={query.namespace}
        choices={namespaces.split("\n")}
        onChange={(namespace) => change({ namespace })}
      />
      <Choice
        label="State"
        value={query.state}
        choices={LIST_STATES}
        names={STATE_NAMES}
        onChange={(state) => change({ state: LIST_STATES.find((one) => one === state) })}
      />
      <Choice
        label="Order"
        value={query.sort}
        choices={LIST_SORTS}
        names={SORT_NAMES}
        onChange={(sort) => change({ sort: LIST_SORTS.find((one) => one === sort) ?? "trouble" })}
        isNeeded
      />
    </>
  );
  const isFiltered = query.search !== "" || query.kind || query.namespace || query.state;
  return (
    <search class="filters" aria-label="Filter">
      <label class="field search">
        <span class="hidden">Search names, Secrets and keys</span>
        <input
          type="search"
          placeholder="Search"
          value={query.search}
          onInput={(event) => change({ search: event.currentTarget.value })}
          data-search
        />
      </label>
      {isNarrow ? (
        <details class="more">
          <summary>{chosen === 0 ? "Filters and order" : `Filters and order (${chosen} set)`}</summary>
          <div class="filters">{fields}</div>
        </details>
      ) : (
        fields
      )}
      <span class="count" role="status">
        {isFiltered ? `${grouped(shown)} of ${counted(total, "credential")}` : counted(total, "credential")}
      </span>
      {isFiltered ? (
        <button type="button" class="plain" onClick={() => onChange({ search: "", sort: query.sort })}>
          Show all
        </button>
      ) : null}
    </search>
  );
}

function Choice(props: {
  label: string;
  value: string | undefined;
  choices: readonly string[];
  names?: Readonly<Record<string, string>>;
  isNeeded?: boolean;
  onChange: (value: string | undefined) => void;
}): JSX.Element {
  const { label, value = "", names = {}, isNeeded = false } = props;
  const choices = props.choices.filter(Boolean);
  if (value !== "" && !choices.includes(value)) choices.push(value);
  return (
    <label class="field">
      <span class="hidden">{label}</span>
      <select
        value={value}
        data-set={value !== "" && !isNeeded}
        onChange={(event) => props.onChange(event.currentTarget.value || undefined)}
      >
        {isNeeded ? null : <option value="">{`${label}: any`}</option>}
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {isNeeded ? `${label}: ${names[choice] ?? choice}` : (names[choice] ?? choice)}
          </option>
        ))}
      </select>
    </label>
  );
}
