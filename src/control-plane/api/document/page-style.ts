/** Follows the colours that the reader's system prefers. */
export const STYLE = `
:root { color-scheme: light dark; --ground: light-dark(#fff, #16181d); --raised: light-dark(#f5f6f8, #1f2229);
  --line: light-dark(#d5d9e0, #3a3f4a); --text: light-dark(#1c2230, #e6e9ef); --soft: light-dark(#555e70, #a5adbb);
  --link: light-dark(#0b57d0, #8ab4f8); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; background: var(--ground);
  color: var(--text); }
a { color: var(--link); }
h1 { font-size: 1.5rem; margin: 0.5rem 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
small { color: var(--soft); font-weight: normal; }
code, pre, textarea { font-family: ui-monospace, monospace; font-size: 0.9rem; }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
.tools { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; align-items: end; }
.tools label { flex: 1 1 14rem; }
label { display: block; margin: 0.5rem 0; }
input, textarea { display: block; width: 100%; padding: 0.4rem 0.5rem; border: 1px solid var(--line); border-radius: 0.3rem;
  background: var(--ground); color: var(--text); }
form { display: grid; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); gap: 0 1rem; align-items: start; }
form > :has(textarea), .answer { grid-column: 1 / -1; }
button { justify-self: start; margin-top: 0.5rem; padding: 0.4rem 1.2rem; border: 0; border-radius: 0.3rem; background: var(--link); color: var(--ground); font: inherit;
  cursor: pointer; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
details { border: 1px solid var(--line); border-radius: 0.4rem; margin: 0.4rem 0; padding: 0 0.8rem; background: var(--raised); }
details[open] { padding-bottom: 0.8rem; }
summary { padding: 0.5rem 0; cursor: pointer; overflow-wrap: anywhere; }
summary span { color: var(--soft); }
summary b { display: inline-block; min-width: 4rem; font-size: 0.8rem; }
.get { color: light-dark(#0b57d0, #8ab4f8); }
.post { color: light-dark(#146c2e, #81c995); }
.patch, .put { color: light-dark(#8a4b00, #fdd663); }
.delete { color: light-dark(#b3261e, #f28b82); }
.answer { max-height: 24rem; overflow: auto; padding: 0.6rem; border: 1px solid var(--line); background: var(--ground);
  white-space: pre-wrap; overflow-wrap: anywhere; }
table { width: 100%; margin-top: 0.8rem; border-collapse: collapse; font-size: 0.9rem; }
caption { text-align: left; font-weight: bold; }
thead th { white-space: nowrap; }
th, td { padding: 0.3rem 0.5rem 0.3rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
th { width: 35%; }
`
