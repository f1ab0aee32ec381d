import type { ContentBlock } from '@langchain/core/messages'
import { barChart } from './png.ts'

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const CUPS = [3, 4, 2, 5, 4, 1, 2]

/** The cups of coffee of a week as a picture with a bar for each day. */
export const chart: ContentBlock.Multimodal.Image = {
  type: 'image',
  mimeType: 'image/png',
  data: barChart(CUPS).toString('base64'),
  metadata: { filename: 'coffee.png' },
}

/** The same figures as a file. */
export const table: ContentBlock.Multimodal.File = {
  type: 'file',
  mimeType: 'text/csv',
  data: Buffer.from(['day,cups', ...DAYS.map((day, at) => `${day},${CUPS[at]}`)].join('\n')).toString(
    'base64',
  ),
  metadata: { filename: 'coffee.csv' },
}
