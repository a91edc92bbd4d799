"""The paper, reproduced: one file per figure or table, each a command.

Predictive Querying for Autoregressive Neural Sequence Models (Boyd, Showalter, Mandt and Smyth, NeurIPS 2022).
"""
