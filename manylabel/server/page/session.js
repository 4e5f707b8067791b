// What outlives a reload and ends with the tab: the token, and what was typed.

const PREFIX = "manylabel.";
const memory = new Map(); // where the browser allows no storage

/** Return what was kept under a name, or a default. */
export function recall(name, otherwise = null) {
  try {
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return memory.get(name) ?? otherwise;
  }
}

/** Keep something under a name; null forgets it. */
export function keep(name, value) {
  memory.set(name, value);
  try {
    if (value === null) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Full or forbidden: this tab still has it.
  }
}
