/** @jsxImportSource preact */

import { costText } from '../model/text.ts'
import type { Totals } from '../model/usage.ts'

const count = (tokens: number): string => tokens.toLocaleString('en-US')

/** The tokens of a row: in and out. */
export const tokensText = ({ calls, input, output }: Totals): string =>
  calls === 0 ? '' : `${count(input)} → ${count(output)}`

/** The known cost, marked as a minimum if some calls have no price. */
export function costOf({ cost, priced, calls }: Totals): string {
  if (priced === 0) return ''
  return priced === calls ? costText(cost) : `≥ ${costText(cost)}`
}

/** The known cost, with the number of calls that have a price. */
const costFact = (totals: Totals): string =>
  totals.priced === 0 || totals.priced === totals.calls
    ? costOf(totals)
    : `${costText(totals.cost)} for ${totals.priced} of ${totals.calls} calls, the others have no price`

/** The totals of a run, on one line. */
export const totalsText = (totals: Totals): string =>
  [`${tokensText(totals)} tokens`, costOf(totals)].filter((text) => text !== '').join(' · ')

/** The tokens and their details. */
export function TokenFacts({ totals }: { readonly totals: Totals }) {
  const { calls, input, output, cacheRead, cacheWrite, reasoning } = totals
  if (calls === 0) return null
  const cost = costFact(totals)
  return (
    <>
      <dt>input tokens</dt>
      <dd class="number">
        {count(input)}
        {cacheRead > 0 && ` · ${count(cacheRead)} read from the cache`}
        {cacheWrite > 0 && ` · ${count(cacheWrite)} written to the cache`}
      </dd>
      <dt>output tokens</dt>
      <dd class="number">
        {count(output)}
        {reasoning > 0 && ` · ${count(reasoning)} of reasoning`}
      </dd>
      {cost !== '' && (
        <>
          <dt>cost</dt>
          <dd class="number">{cost}</dd>
        </>
      )}
    </>
  )
}
