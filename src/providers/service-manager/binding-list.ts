import { ProviderError } from "../provider-error.ts";
import { garbled } from "./answer.ts";
import { type Binding, decodeBinding, decodePage } from "./binding.ts";
import type { Call, ServiceManagerClient } from "./client.ts";
import { type Criterion, isQueryable, renderQuery } from "./query.ts";

const MAX_PAGE_ITEMS = 200;
const MAX_PAGES = 1_000;

export interface ListQuery {
  readonly fields?: readonly Criterion[];
  readonly labels?: readonly Criterion[];
  /** One page of this size instead of the whole list. */
  readonly maxItems?: number;
}

/**
 * All bindings that match, page by page. Whole or an error: what a page lacks would look deleted. A binding that moves
 * from one page to the next while they are read is counted once.
 */
export async function readBindings(
  client: ServiceManagerClient,
  query: ListQuery,
  signal: AbortSignal,
): Promise<readonly Binding[]> {
  const found = new Map<string, Binding>();
  const seenTokens = new Set<string>();
  let token: string | undefined;
  do {
    const page = decodePage(await client.read(listCall(query, token), signal));
    if (!page) throw garbled();
    for (const item of page.items) {
      const binding = decodeBinding(item);
      if (!binding) throw garbled();
      found.set(binding.id, binding);
    }
    token = query.maxItems === undefined ? page.next : undefined;
    const isWhole = query.maxItems !== undefined || token !== undefined || found.size >= (page.total ?? 0);
    if (!isWhole || (token !== undefined && seenTokens.has(token)) || seenTokens.size >= MAX_PAGES) {
      throw new ProviderError("ProviderUnavailable", "the Service Manager's list of bindings is not complete");
    }
    if (token !== undefined) seenTokens.add(token);
  } while (token !== undefined);
  return [...found.values()];
}

function listCall({ fields = [], labels = [], maxItems }: ListQuery, token: string | undefined): Call {
  if (![...fields, ...labels].every(({ value }) => isQueryable(value))) {
    throw new ProviderError("ProviderRefused", "the Service Manager's query language cannot express what to look for");
  }
  return {
    method: "GET",
    path: "/v1/service_bindings",
    purpose: "read",
    query: {
      ...(fields.length > 0 && { fieldQuery: renderQuery(fields) }),
      ...(labels.length > 0 && { labelQuery: renderQuery(labels) }),
      max_items: String(maxItems ?? MAX_PAGE_ITEMS),
      attach_last_operations: "true",
      ...(token !== undefined && { token }),
    },
  };
}
