import { expect, test } from 'vitest'
import { barChart } from '../../examples/chat/server/models/bar-chart.ts'

const labels = (svg: string): readonly string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text!)

test.each([
  [[1], ['0', '1']],
  [
    [3, 5],
    ['0', '1', '2', '3', '4', '5'],
  ],
  [
    [420, 90],
    ['0', '100', '200', '300', '400', '500'],
  ],
  [[0], ['0', '1']],
])('the axis of %j has round numbers', (values, axis) => {
  const svg = barChart({ title: 'T', unit: 'U', bars: values.map((value) => ['B', value]) })
  expect(labels(svg)).toEqual(['T', 'U', ...axis, ...values.map(() => 'B')])
})

test('the highest line is at least as high as the highest bar', () => {
  const svg = barChart({ title: 'T', unit: 'U', bars: [['B', 11]] })
  expect(Math.max(...labels(svg).map(Number).filter(Number.isFinite))).toBeGreaterThanOrEqual(11)
})

test('names are text', () => {
  expect(barChart({ title: '<script>', unit: '&', bars: [['"', 1]] })).not.toMatch(/<script>|>&</)
})
