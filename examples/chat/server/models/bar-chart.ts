interface BarChart {
  readonly title: string
  /** The unit of the values, shown at the vertical axis. */
  readonly unit: string
  /** A name and a value for each bar. Values are not negative. */
  readonly bars: readonly (readonly [name: string, value: number])[]
}

const WIDTH = 640
const HEIGHT = 360
const LEFT = 56
const RIGHT = 24
const TOP = 56
const BOTTOM = 44
/** The maximum number of lines of the vertical axis. */
const MOST_LINES = 6

/** An image uses the theme of the page that shows it. */
const STYLE = [
  '.page{fill:#fff}.title{fill:#18181b}.label{fill:#52525b}.bar{fill:#4f46e5}.axis{stroke:#71717a}.line{stroke:#e4e4e7}',
  '@media(prefers-color-scheme:dark){.page{fill:#232328}.title{fill:#ededf0}.label{fill:#a5a5b0}.bar{fill:#818cf8}',
  '.axis{stroke:#a5a5b0}.line{stroke:#36363d}}',
].join('')

/** An SVG image with a bar for each value, both axes and their labels. */
export function barChart({ title, unit, bars }: BarChart): string {
  const highest = Math.max(1, ...bars.map(([, value]) => value))
  const step = stepOf(highest)
  const top = Math.ceil(highest / step) * step
  const y = (value: number): number => round(HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM))
  const slot = (WIDTH - LEFT - RIGHT) / bars.length
  const middle = (at: number): number => round(LEFT + slot * (at + 0.5))

  const lines = Array.from({ length: Math.round(top / step) + 1 }, (_, at) => round(at * step))
  const grid = lines.map(
    (value) =>
      `<path d="M${LEFT} ${y(value)}H${WIDTH - RIGHT}" class="${value === 0 ? 'axis' : 'line'}"/>` +
      `<text class="label" x="${LEFT - 10}" y="${y(value) + 5}" text-anchor="end">${value}</text>`,
  )
  const columns = bars.map(
    ([name, value], at) =>
      `<rect x="${round(middle(at) - slot * 0.32)}" y="${y(value)}" width="${round(slot * 0.64)}" ` +
      `height="${round(y(0) - y(value))}" rx="4" class="bar"/>` +
      `<text class="label" x="${middle(at)}" y="${HEIGHT - BOTTOM + 22}" text-anchor="middle">${escaped(name)}</text>`,
  )
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" ` +
    `font-family="system-ui, sans-serif" font-size="14">` +
    `<style>${STYLE}</style><rect width="${WIDTH}" height="${HEIGHT}" class="page"/>` +
    `<text x="${LEFT}" y="30" font-size="17" font-weight="600" class="title">${escaped(title)}</text>` +
    `<text class="label" transform="translate(18 ${y(top / 2)}) rotate(-90)" text-anchor="middle">${escaped(unit)}</text>` +
    `${grid.join('')}${columns.join('')}</svg>`
  )
}

/** The distance between two lines of the axis: 1, 2 or 5 times a power of ten. */
function stepOf(highest: number): number {
  const least = highest / MOST_LINES
  const power = 10 ** Math.floor(Math.log10(least))
  return Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least)!)
}

const round = (value: number): number => Math.round(value * 100) / 100

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign]!)
