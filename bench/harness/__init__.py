# SPDX-License-Identifier: Apache-2.0
"""The benchmark: paths, tools, measurements, tables and plots. bench/run is the way in; bench/README.md says how to read it."""
