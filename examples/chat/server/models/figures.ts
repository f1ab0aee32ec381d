import type { ContentBlock } from '@langchain/core/messages'
import { barChart } from './bar-chart.ts'

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const CUPS = [3, 4, 2, 5, 4, 1, 2]

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** A week's cups of coffee as an image with a bar for each day. */
export const chart: ContentBlock.Multimodal.Image = {
  type: 'image',
  mimeType: 'image/svg+xml',
  data: base64(
    barChart({
      title: 'Cups of coffee in a week',
      unit: 'Cups',
      bars: DAYS.map((day, at) => [day.slice(0, 3), CUPS[at]!]),
    }),
  ),
  metadata: { filename: 'coffee.svg' },
}

/** The same figures as a file. */
export const table: ContentBlock.Multimodal.File = {
  type: 'file',
  mimeType: 'text/csv',
  data: base64(['day,cups', ...DAYS.map((day, at) => `${day},${CUPS[at]}`)].join('\n')),
  metadata: { filename: 'coffee.csv' },
}
