/** What moves on a page: light or dark, the list of pages on a narrow screen, and search. Without it everything can be read. */
(() => {
  const page = document.documentElement;
  const root = page.dataset.root ?? "";
  const THEME = "keyturn-theme";

  /** A page from a disk may have no storage. */
  const remembered = () => {
    try {
      return localStorage.getItem(THEME) ?? "";
    } catch {
      return "";
    }
  };
  const remember = (theme) => {
    try {
      localStorage.setItem(THEME, theme);
    } catch {
      // It lasts as long as the page.
    }
  };
  // Before anything is drawn.
  page.dataset.theme = remembered();

  const isDark = () =>
    page.dataset.theme === "dark" ||
    (page.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);

  /** Loaded when somebody searches: it is larger than any page. */
  let index;
  const loadIndex = () => {
    index ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}search-index.js`;
      script.onload = () => resolve(globalThis.keyturnIndex);
      script.onerror = reject;
      document.head.append(script);
    });
    return index;
  };

  const entry = ({ url, title, heading, text }, at) => {
    const item = document.createElement("li");
    item.id = `result-${at}`;
    item.setAttribute("role", "option");
    const link = document.createElement("a");
    link.href = root + url;
    link.className = "found";
    link.tabIndex = -1;
    for (const [tag, words] of [
      ["strong", heading],
      ["span", title === heading ? "" : title],
      ["small", text],
    ]) {
      const part = document.createElement(tag);
      part.textContent = words;
      if (tag === "span") part.className = "of";
      link.append(part);
    }
    item.append(link);
    return item;
  };

  const startSearch = () => {
    const input = document.getElementById("search");
    const list = document.getElementById("results");
    let chosen = -1;

    const choose = (at) => {
      const items = [...list.children].filter((item) => item.id !== "");
      chosen = items.length === 0 ? -1 : (at + items.length) % items.length;
      for (const [each, item] of items.entries()) item.setAttribute("aria-selected", String(each === chosen));
      input.setAttribute("aria-activedescendant", chosen < 0 ? "" : `result-${chosen}`);
      items[chosen]?.scrollIntoView({ block: "nearest" });
    };
    const show = (isShown) => {
      list.hidden = !isShown;
      input.setAttribute("aria-expanded", String(isShown));
    };
    const search = async () => {
      const query = input.value.trim();
      if (query === "") return show(false);
      const known = await loadIndex();
      // Somebody may have typed on meanwhile.
      if (query !== input.value.trim()) return;
      const found = globalThis.keyturnSearch(known, query);
      const nothing = document.createElement("li");
      nothing.textContent = "Nothing was found.";
      list.replaceChildren(...(found.length === 0 ? [nothing] : found.map(entry)));
      show(true);
      choose(0);
    };

    input.addEventListener("focus", () => void loadIndex());
    input.addEventListener("input", () => void search());
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") choose(chosen + 1);
      else if (event.key === "ArrowUp") choose(chosen - 1);
      else if (event.key === "Enter") list.children[chosen]?.querySelector("a")?.click();
      else if (event.key === "Escape") {
        show(false);
        input.blur();
      } else return;
      event.preventDefault();
    });
    list.addEventListener("click", () => show(false));
    document.addEventListener("click", (event) => {
      if (!event.target.closest(".search")) show(false);
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    startSearch();
    document.querySelector("button.theme").addEventListener("click", () => {
      page.dataset.theme = isDark() ? "light" : "dark";
      remember(page.dataset.theme);
    });
    const menu = document.querySelector("button.menu");
    menu.addEventListener("click", () => {
      const isOpen = page.classList.toggle("open");
      menu.setAttribute("aria-expanded", String(isOpen));
    });
    // The list alone: the page stays where its address says.
    const list = document.getElementById("navigation");
    const here = list.querySelector('[aria-current="page"]');
    if (here) list.scrollTop = here.offsetTop - list.clientHeight / 2;
  });
})();
