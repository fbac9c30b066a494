/** A metric as CloudWatch gets it, and as dashboards and alarms read it. */
export interface MetricEntry {
  readonly unit: 'Count' | 'Milliseconds'
  /** What sums or extremes of it mean something. */
  readonly statistic: 'Sum' | 'Maximum' | 'p99'
  readonly about: string
}

export const metricNamespace = 'Fencepost'
/** Dimensions of every metric: the relay's name, as Powertools calls it, and the prefix of the deployment. */
export const relayDimension = 'service'
export const deploymentDimension = 'deployment'

/** Every metric of a relay. By relay and not by lane: each further combination of dimensions is billed. */
export const metricCatalogue = {
  RecordsRelayed: { unit: 'Count', statistic: 'Sum', about: 'Source records whose effects were committed.' },
  OutputsWritten: { unit: 'Count', statistic: 'Sum', about: 'Records committed to outputs, dead letters included.' },
  DeadLetters: { unit: 'Count', statistic: 'Sum', about: 'Records that were sent to the dead letters.' },
  RecordsSkipped: {
    unit: 'Count',
    statistic: 'Sum',
    about: 'Records that failed and were skipped, as the relay says.',
  },
  WindowsCommitted: { unit: 'Count', statistic: 'Sum', about: 'Transactions.' },
  WindowMs: { unit: 'Milliseconds', statistic: 'p99', about: 'From the first read of a window to its commit.' },
  NoopBells: { unit: 'Count', statistic: 'Sum', about: 'Lanes that were rung although their records were relayed.' },
  LagRecords: { unit: 'Count', statistic: 'Maximum', about: 'Offsets that a lane is behind, as each sweep finds it.' },
  FenceAgeMs: {
    unit: 'Milliseconds',
    statistic: 'Maximum',
    about: "Since a lane's positions were last committed, as each sweep finds it.",
  },
  LanesStopped: { unit: 'Count', statistic: 'Sum', about: 'Lanes that wait for an operator; each sweep tells again.' },
  LanesFailed: { unit: 'Count', statistic: 'Sum', about: 'Ends of a lane that must be rung again.' },
  SessionsReopened: { unit: 'Count', statistic: 'Sum', about: 'Sessions that were given up and begun anew.' },
  StoodDown: { unit: 'Count', statistic: 'Sum', about: 'Lanes left to a newer owner.' },
  Alarms: { unit: 'Count', statistic: 'Sum', about: 'Things that somebody should know though work goes on.' },
} as const satisfies Readonly<Record<string, MetricEntry>>

export type MetricName = keyof typeof metricCatalogue
