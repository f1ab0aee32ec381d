/**
 * How often a property is tried: a quarter of `all`, with new examples each time, or all with `PROPERTY_RUNS=all`, as every night.
 */
export const runs = (all: number): number => (process.env.PROPERTY_RUNS === 'all' ? all : Math.ceil(all / 4))
