/**
 * Looks words up in the index that the site is built with (`search-index.js`). No page is needed for it, so that a test can
 * run it as it is. All words of a query must be there, each as the beginning of a word.
 */
globalThis.keyturnSearch = (index, query, most = 12) => {
  const WEIGHTS = [1, 6, 12];
  const EXACT = 2;

  /** Where the first word stands that is not before this one. */
  const lowerBound = (word) => {
    let [low, high] = [0, index.words.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (index.words[middle] < word) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const scoresOf = (term) => {
    const scores = new Map();
    for (let at = lowerBound(term); at < index.words.length && index.words[at].startsWith(term); at++) {
      const factor = index.words[at] === term ? EXACT : 1;
      for (const hit of index.hits[at]) {
        const [section, weight] = [hit >> 2, WEIGHTS[hit & 3] * factor];
        scores.set(section, Math.max(scores.get(section) ?? 0, weight));
      }
    }
    return scores;
  };

  const typed = query.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_./-]*/gu) ?? [];
  const words = typed.map((word) => word.replace(/[./-]+$/, ""));
  // A letter by itself is in no index, and says little beside a word.
  const terms = words.length > 1 ? words.filter((word) => word.length > 1) : words;
  if (terms.length === 0) return [];
  const [first, ...rest] = terms.map(scoresOf);
  const found = [...first].flatMap(([section, score]) => {
    const others = rest.map((scores) => scores.get(section));
    return others.includes(undefined) ? [] : [{ section, score: others.reduce((sum, each) => sum + each, score) }];
  });
  found.sort((a, b) => b.score - a.score || a.section - b.section);
  return found.slice(0, most).map(({ section }) => {
    const [page, heading, anchor, text] = index.sections[section];
    const [url, title] = index.pages[page];
    return { url: `${url}#${anchor}`, title, heading, text };
  });
};
