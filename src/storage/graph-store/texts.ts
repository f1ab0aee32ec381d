/**
 * The texts of a value at a path, with LangGraph's path syntax: `$` is the whole value as JSON, `a.b` a
 * field, `a[0]`, `a[-1]` and `a[*]` items of an array, `*` every field, `{a,b.c}` several paths. Other values
 * become JSON.
 */
export function textsAt(value: unknown, path: string): string[] {
  if (path === '' || path === '$') return textOf(value)
  let found: unknown[] = [value]
  for (const step of stepsOf(path)) found = found.flatMap((at) => follow(at, step))
  return found.flatMap(textOf)
}

const stepsOf = (path: string): string[] => path.match(/\[[^[\]]*\]|\{[^{}]*\}|[^.[{]+/g) ?? []

function follow(at: unknown, step: string): unknown[] {
  if (step === '$') return [at]
  if (step.startsWith('[')) return Array.isArray(at) ? itemsOf(at, step.slice(1, -1)) : []
  if (typeof at !== 'object' || at === null) return []
  if (step === '*') return Object.values(at)
  if (step.startsWith('{'))
    return step
      .slice(1, -1)
      .split(',')
      .flatMap((path) =>
        stepsOf(path.trim()).reduce<unknown[]>(
          (from, next) => from.flatMap((one) => follow(one, next)),
          [at],
        ),
      )
  return Object.hasOwn(at, step) ? [(at as Readonly<Record<string, unknown>>)[step]] : []
}

function itemsOf(items: readonly unknown[], index: string): unknown[] {
  if (index === '*') return [...items]
  const at = Number.parseInt(index, 10)
  return Number.isNaN(at) ? [] : items.slice(at, at === -1 ? undefined : at + 1)
}

function textOf(found: unknown): string[] {
  if (found === null || found === undefined) return []
  return [typeof found === 'object' ? JSON.stringify(found, null, 2) : String(found)]
}
