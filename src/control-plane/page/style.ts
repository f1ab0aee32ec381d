export const STYLE = `
:root {
  color-scheme: light dark;
  --line: light-dark(#d4d4d8, #3f3f46);
  --soft: light-dark(#f4f4f5, #27272a);
  --muted: light-dark(#52525b, #a1a1aa);
  font: 16px/1.5 system-ui, sans-serif;
}
body { margin: 0; background: light-dark(#ffffff, #18181b); color: light-dark(#18181b, #fafafa); }
main { max-width: 60rem; margin: auto; padding: 1.5rem 1rem; }
[hidden] { display: none !important; }
header { display: flex; align-items: center; flex-wrap: wrap; gap: .75rem; }
a { color: light-dark(#1d4ed8, #93c5fd); }
h1 { margin: 0; font-size: 1.4rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1rem; }
.status { white-space: nowrap; padding: .1rem .6rem; border-radius: 1rem; background: var(--soft); font-size: .85rem; }
.status:empty { display: none; }
.good { background: light-dark(#dcfce7, #14532d); }
.bad { background: light-dark(#fee2e2, #7f1d1d); }
#message { color: var(--muted); }
#message:empty { display: none; }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--muted); font-weight: 500; }
td:last-child { overflow-wrap: anywhere; white-space: pre-wrap; }
pre { height: 24rem; margin: .5rem 0; padding: .75rem; overflow: auto; border: 1px solid var(--line); border-radius: .5rem; background: var(--soft); font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
pre .ERROR, pre .CRITICAL { color: light-dark(#b91c1c, #fca5a5); }
pre .WARNING { color: light-dark(#854d0e, #fde047); }
form { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; }
input, button { min-height: 2.75rem; padding: 0 .9rem; border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: inherit; font: inherit; }
button[aria-pressed="true"] { background: var(--soft); font-weight: 600; }
`
